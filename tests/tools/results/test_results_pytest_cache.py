"""pytest's own cache, as pytest writes it."""

import subprocess
import sys
from math import isnan
from pathlib import Path

import pytest
from tests.tools.results.reports import only, outcomes, read, write

from whet.tools.results.refusing import BadResults

SUITE = "def test_green(): pass\ndef test_red(): assert False\n"


def test_what_failed_last(tmp_path: Path) -> None:
    write(tmp_path, {"pytest.ini": "[pytest]\n", "tests/test_a.py": SUITE, "tests/test_b.py": "import nothing_there\n"})
    command = [sys.executable, "-m", "pytest", "-q", "--continue-on-collection-errors"]
    subprocess.run(command, cwd=tmp_path, check=False, capture_output=True)
    reading = read(tmp_path / ".pytest_cache")
    sheet = only(reading)
    assert outcomes(sheet) == {"tests/test_a.py::test_green": "p", "tests/test_a.py::test_red": "f"}
    assert all(isnan(took) for took in sheet.seconds)
    assert (sheet.source, sheet.complete, reading.dated_by_file) == ("pytest-cache", False, 1)
    assert only(read(tmp_path)).id == sheet.id


def test_a_cache_without_tests_is_no_run(tmp_path: Path) -> None:
    reading = read(write(tmp_path, {"v/cache/nodeids": "[]", "v/cache/lastfailed": '{"tests/test_b.py": true}'}))
    assert (reading.sheets, reading.files, reading.refused) == ([], 2, [])


def test_what_is_no_cache_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadResults, match="lastfailed is no cache of pytest"):
        read(write(tmp_path, {"v/cache/lastfailed": "7"}))
