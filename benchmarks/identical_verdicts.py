"""Same verdicts with and without `--whet`, on public suites: `python benchmarks/identical_verdicts.py [NAME…]`.

Takes each project's source archive from the package index, installs it with what its tests need into an environment
of its own, runs its suite plainly twice (to know which tests differ by themselves) and with `--whet` twice (the second
time with something learned), and compares the verdict of every test. Where one differs, the suite runs plainly again in
the very order that `--whet` took: a test that then says the same depends on the order, whoever makes it, and is told
apart. Ends with 1 when `--whet` changed any other.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

WHET = Path(__file__).resolve().parents[1]


class Project(NamedTuple):
    """What to install beside it, and what to hand to pytest."""

    needs: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


PROJECTS = {
    "pluggy": Project(arguments=("testing", "--ignore=testing/benchmark.py")),
    "h11": Project(arguments=("h11",)),
    "attrs": Project(("hypothesis", "cloudpickle"), ("tests",)),
    "click": Project(arguments=("tests",)),
    "anyio": Project(
        ("trio", "hypothesis", "psutil", "exceptiongroup", "pytest-mock", "pytest-timeout", "trustme", "blockbuster"),
        ("tests", "-m", "not network"),
    ),
    "pytest": Project(("attrs", "hypothesis", "pygments", "xmlschema"), ("testing", "-n0")),
}
Verdicts = dict[str, str]
# Inside the project's own pytest, which knows nothing of this file.
_PLUGIN = """
import os
import pytest

@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    if "ORDER_GIVEN" in os.environ:
        places = {name: place for place, name in enumerate(open(os.environ["ORDER_GIVEN"]).read().splitlines())}
        items.sort(key=lambda item: places.get(ascii(item.nodeid), len(places)))

def pytest_runtest_logstart(nodeid, location):
    if os.environ.get("ORDER_TAKEN"):
        with open(os.environ["ORDER_TAKEN"], "a") as order:
            order.write(ascii(nodeid) + chr(10))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(PROJECTS))
    parser.add_argument("--select", nargs="*", default=[], help="paths to run instead of the project's whole suite")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    told = {}
    for name in arguments.names:
        with tempfile.TemporaryDirectory(prefix=f"whet-{name}-") as folder:
            told[name] = _compare(name, PROJECTS[name], Path(folder), arguments.select)
            print(name, json.dumps(told[name]), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(told, indent=2) + "\n")
    sys.exit(1 if any(one["changed"] for one in told.values()) else 0)


def _compare(name: str, project: Project, folder: Path, select: list[str]) -> dict[str, object]:
    python = _environment(folder / "venv", name, project)
    root = _source(name, python, folder)
    chosen = [*select, *project.arguments[1:]] if select else list(project.arguments)
    plain = [_run(python, root, chosen, folder / f"plain-{n}.xml") for n in range(2)]
    ours = [_run(python, root, ["--whet", *chosen], folder / f"whet-{n}.xml") for n in range(2)]
    unsteady = {test for test in plain[0] if plain[0][test] != plain[1].get(test)}
    changed, by_order = dict[str, list[str | None]](), set[str]()
    for number, run in enumerate(ours):
        other = {test for test in plain[0].keys() | run.keys() if run.get(test) != plain[0].get(test)} - unsteady
        same_order = (
            _run(python, root, chosen, folder / f"order-{number}.xml", folder / f"whet-{number}.order") if other else {}
        )
        by_order |= {test for test in other if run.get(test) == same_order.get(test)}
        changed |= {test: [plain[0].get(test), run.get(test)] for test in other - by_order}
    told = {"unsteady_without_whet": sorted(unsteady), "depend_on_their_order": sorted(by_order)}
    return {"tests": len(plain[0]), **told, "changed": changed}


def _environment(place: Path, name: str, project: Project) -> str:
    venv.create(place, with_pip=True)
    python = str(place / "bin" / "python")
    install = [python, "-m", "pip", "install", "-q"]
    subprocess.run([*install, str(WHET), *project.needs, *([] if name == "pytest" else [name])], check=True)
    next((place / "lib").glob("python*/site-packages")).joinpath("order_of_tests.py").write_text(_PLUGIN)
    return python


def _source(name: str, python: str, folder: Path) -> Path:
    version = subprocess.run(
        [python, "-c", f"import importlib.metadata as m; print(m.version({name!r}))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    download = [python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, "-d", str(folder)]
    subprocess.run([*download, f"{name}=={version}"], check=True)
    archives = list(folder.glob("*.tar.gz"))
    if not archives:
        raise SystemExit(f"{name}: the package index gave no source archive, only {[f.name for f in folder.iterdir()]}")
    with tarfile.open(archives[0]) as packed:
        packed.extractall(folder / "source", filter="data")
    return next((folder / "source").iterdir())


def _run(python: str, root: Path, arguments: list[str], report: Path, order: Path | None = None) -> Verdicts:
    """By test, as JUnit XML names it, since every version of pytest writes that. In the `order` of another run, if
    one is given; in which order it ran stands beside the report."""
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "order_of_tests", f"--junitxml={report}"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "CI"))}
    kept |= {"ORDER_TAKEN": str(report.with_suffix(".order"))} | ({"ORDER_GIVEN": str(order)} if order else {})
    done = subprocess.run([*command, *arguments], cwd=root, env=kept, capture_output=True, text=True, check=False)
    if not report.exists():
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    print(*[line for line in done.stdout.splitlines()[-30:] if line.startswith("whet:")], sep="\n", flush=True)
    print(done.stdout.strip().splitlines()[-1], flush=True)
    return _verdicts(report)


def _verdicts(report: Path) -> Verdicts:
    found: Verdicts = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):  # noqa: S314 - written by our own run
        name = f"{case.get('classname')}::{case.get('name')}"
        kinds = sorted(child.tag for child in case if child.tag in ("failure", "error", "skipped"))
        found[name] = "+".join(filter(None, (found.get(name), "/".join(kinds) or "passed")))
    return found


if __name__ == "__main__":
    main()
