"""Our own OpenAPI, taken at its word by Schemathesis and by `whet api`."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.service_served import Served

# Not positive_data_acceptance: some rules no schema can say, such as that a reward must be in its range.
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,negative_data_rejection,ignored_auth,unsupported_method"
)


class Fuzzed(NamedTuple):
    cases: int
    failures: int
    said: str


def schemathesis(served: Served, cases: int, operations: int) -> Fuzzed:
    tool = Path(sys.executable).with_name("schemathesis")
    if not tool.exists():
        raise SystemExit("Schemathesis is not installed. Run pip install 'whet[fuzz]', or give --cases 0.")
    command = [str(tool), "run", f"{served.address}/openapi.json", "-H", f"Authorization: Bearer {served.token}"]
    command += ["--phases", "examples,fuzzing", "--max-examples", str(max(1, cases // operations)), "--no-color"]
    command += ["--checks", CHECKS, "--continue-on-failure", "--suppress-health-check", "all"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=served.folder, check=False)
    made = re.search(r"([\d,]+) generated(?:, [\d,]+ found ([\d,]+) unique failures)?", ran.stdout)
    if made is None:
        raise SystemExit(f"Schemathesis said nothing of its cases:\n{ran.stdout[-3000:]}{ran.stderr[-1000:]}")
    numbers = [int((each or "0").replace(",", "")) for each in made.groups()]
    return Fuzzed(numbers[0], numbers[1], ran.stdout)


def whet_api(served: Served, document: str, requests: int) -> Fuzzed:
    """The document as a file: it is behind the lock like everything else."""
    tool = str(Path(sys.executable).with_name("whet"))
    elsewhere = served.folder / "tester"
    elsewhere.mkdir(exist_ok=True)
    (elsewhere / "openapi.json").write_text(document)
    command = [tool, "api", str(elsewhere / "openapi.json"), "--url", served.address]
    command += ["--requests", str(requests), "--auth", "bearer:env:KEY"]
    command += ["--format", "json", "--fail-on", "never", "-C", str(elsewhere), "--timeout", "60"]
    environment = {**os.environ, "KEY": served.token}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if ran.returncode != 0:
        raise SystemExit(f"whet api ended with {ran.returncode}: {ran.stderr[-2000:]}")
    told = json.loads(ran.stdout)
    return Fuzzed(requests, len(told.get("findings", [])), ran.stdout)
