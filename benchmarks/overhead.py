"""What deciding, recalling and recording cost beside the tests themselves: `python benchmarks/overhead.py`.

Runs `whet run` (test-executor only) on a suite of 60 tests of one second each, and adds up everything that is
not pytest; and times `whet --help` against a bare interpreter. Prints a table, writes JSON with --json.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Any

WHET = Path(sys.executable).with_name("whet")
SUITE = """
import time
import pytest

@pytest.mark.parametrize("number", range({tests}))
def test_takes_its_time(number):
    time.sleep({seconds})
"""
SETTINGS = """
[tool.whet]
agents = ["test-executor"]
policies = {"fleet-commander" = "stop", "test-executor" = "run_all_tests"}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--tests", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=1.0)
    arguments = parser.parse_args()
    figures = {**_run_overhead(arguments.tests, arguments.seconds), **_help_overhead()}
    for name, value in figures.items():
        print(f"{name:40} {value:10.3f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


def _run_overhead(tests: int, seconds: float) -> dict[str, float]:
    """One visit that learns (the second, so that there is history to recall), split by who spent the time."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "test_slow.py").write_text(textwrap.dedent(SUITE.format(tests=tests, seconds=seconds)))
        (root / "pyproject.toml").write_text(SETTINGS)
        _visit(root)
        visit = _visit(root)
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=root, check=True, capture_output=True)
        plain = time.perf_counter() - started
    suite = sum(s["duration_seconds"] for s in visit["steps"] if s["agent"] == "test-executor")
    decisions = sum(s["agent"] == "test-executor" for s in visit["steps"])
    used = float(visit["used_seconds"])
    return {
        "plain_pytest_seconds": plain,
        "visit_seconds": used,
        "suite_inside_visit_seconds": suite,
        "suite_runs_in_visit": float(decisions),
        "deciding_recalling_recording_seconds": used - suite,
        "overhead_share_of_suite": (used - suite) / suite,
    }


def _visit(root: Path) -> dict[str, Any]:
    command = [str(WHET), "run", str(root), "--format", "json", "--minutes", "5", "--python", sys.executable]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _help_overhead() -> dict[str, float]:
    """Medians of alternating starts, so that noise hits both alike."""
    times: dict[str, list[float]] = {"bare": [], "help": []}
    for _ in range(15):
        for name, command in (("bare", [sys.executable, "-c", "pass"]), ("help", [str(WHET), "--help"])):
            started = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times[name].append(time.perf_counter() - started)
    bare, helped = (statistics.median(times[name]) for name in ("bare", "help"))
    return {"bare_python_seconds": bare, "whet_help_seconds": helped, "help_extra_milliseconds": (helped - bare) * 1000}


if __name__ == "__main__":
    main()
