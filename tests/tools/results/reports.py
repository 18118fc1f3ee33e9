"""Results files as tools write them, and what was read from them."""

import os
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from whet.core.sheets import Sheet
from whet.skills.ordering.identity import Naming
from whet.tools.results import Refusal, read_results

LONG_AGO = datetime(2020, 5, 17, 12, tzinfo=UTC)

SUREFIRE = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" version="3.0" name="com.shop.CartTest"
  time="1,234.567" tests="5" errors="1" skipped="1" failures="1">
  <properties><property name="java.version" value="21"/></properties>
  <testcase name="adds" classname="com.shop.CartTest" time="1,234.5"/>
  <testcase name="removes" classname="com.shop.CartTest" time="0.012">
    <failure message="expected 1" type="java.lang.AssertionError">at com.shop</failure>
    <rerunFailure message="expected 1" type="java.lang.AssertionError"><stackTrace>at</stackTrace></rerunFailure>
    <system-out><![CDATA[<failure> in the output is no failure]]></system-out>
  </testcase>
  <testcase name="flaky" classname="com.shop.CartTest" time="0">
    <flakyFailure message="timeout" type="java.net.X"><stackTrace>at</stackTrace></flakyFailure>
    <flakyError message="timeout" type="java.net.X"><stackTrace>at</stackTrace></flakyError>
  </testcase>
  <testcase name="breaks" classname="com.shop.CartTest"><error type="java.lang.NPE">at</error></testcase>
  <testcase name="later" classname="com.shop.CartTest" time=""><skipped message="not yet"/></testcase>
</testsuite>
"""

JEST = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="jest tests" tests="3" failures="1" errors="0" time="3.2">
  <testsuite name="cart" errors="0" failures="1" skipped="0" timestamp="2024-03-01T10:00:00" time="1.5" tests="2"
             file="src/cart.test.js">
    <testcase classname="cart adds" name="cart adds" time="0.004"></testcase>
    <testcase classname="cart removes" name="cart removes" time="0.2"><failure>Error: expect</failure></testcase>
  </testsuite>
  <testsuite name="till" errors="0" failures="0" skipped="0" timestamp="2024-03-01T10:00:02" time="0.5" tests="1">
    <testcase classname="till" name="opens" time="0.1" file="src/till.test.js"></testcase>
  </testsuite>
</testsuites>
"""


def suite(*cases: str, timestamp: str | None = "2024-05-01T10:00:00") -> str:
    stated = f' timestamp="{timestamp}"' if timestamp else ""
    return f"<testsuites><testsuite name='s'{stated}>{''.join(cases)}</testsuite></testsuites>"


def case(name: str, inside: str = "", time: str | None = "0.5", classname: str = "tests.test_a") -> str:
    took = "" if time is None else f' time="{time}"'
    return f'<testcase classname="{classname}" name="{name}"{took}>{inside}</testcase>'


def write(root: Path, files: Mapping[str, str | bytes], at: datetime = LONG_AGO) -> Path:
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        os.utime(file, (at.timestamp(), at.timestamp()))
    return root


class Read(NamedTuple):
    sheets: list[Sheet]
    files: int
    dated_by_file: int
    refused: list[Refusal]
    left_out_files: Counter[str]
    left_out_results: Counter[str]


def read(*paths: Path | str, naming: Naming | None = None, skip_bad: bool = False) -> Read:
    got = read_results([str(path) for path in paths], skip_bad=skip_bad)
    sheets = got.sheets(naming or Naming())
    return Read(sheets, got.files, got.dated_by_file, got.refused, got.left_out_files, got.left_out_results)


def only(reading: Read) -> Sheet:
    assert len(reading.sheets) == 1
    return reading.sheets[0]


def outcomes(sheet: Sheet) -> dict[str, str]:
    return dict(zip(sheet.tests, sheet.outcomes, strict=True))


def seconds(sheet: Sheet) -> dict[str, float]:
    return dict(zip(sheet.tests, sheet.seconds, strict=True))
