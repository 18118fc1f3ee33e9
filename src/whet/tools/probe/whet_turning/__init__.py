"""A pytest plugin that tells where a failing test first went another way than when it passed.

Loaded with `-p whet_turning` in the user's interpreter: standard library only, Python 3.8 and pytest 7 or newer. The
plan is the JSON file named by WHET_TURNING:

    root, sources   the project, and the files and folders of it to follow
    events          the folder where events of tests are kept
    mode            "keep" what a run that passes goes through; "steady": the same once more, to know what is another
                    each time; "compare" a run that fails with that
    out             where "compare" writes, by test, where it turned
    tests           those to run, of all that are collected; all where it is missing

Every run writes `passed.json` beside the events: the tests that passed.

What importing executes belongs to every test: whoever runs one alone imports, too.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from pathlib import Path

from .comparing import Comparing, Keeping, Steadying
from .following import Follower

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import pytest

_IMPORTING = ""
_OUTSIDE = frozenset({"site-packages", "dist-packages", "test", "tests"})


class Turning:
    def __init__(self, plan: dict[str, Any]) -> None:
        self._root, self._sources = plan["root"], tuple(plan["sources"])
        self._mode, self._events, self._out = plan["mode"], Path(plan["events"]), plan["out"]
        self._files: dict[str, str | None] = {}
        self._wanted: list[str] | None = plan.get("tests")
        self._turns: dict[str, Any] = {}
        self._passed: dict[str, bool] = {}
        self._judge: Keeping | Steadying | Comparing | None = None
        self._follower: Follower | None = None
        self._begin(_IMPORTING)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._wanted is not None:
            items[:] = [item for item in items if item.nodeid in self._wanted]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._passed[report.nodeid] = self._passed.get(report.nodeid, True) and report.passed

    def pytest_collection_finish(self) -> None:
        self._end(_IMPORTING)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._begin(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._end(nodeid)

    def pytest_sessionfinish(self) -> None:
        if self._mode == "compare":
            Path(self._out).write_text(json.dumps(self._turns), encoding="utf-8")
        passed = [test for test, did in self._passed.items() if did]
        (self._events / "passed.json").write_text(json.dumps(passed), encoding="utf-8")

    def _begin(self, test: str) -> None:
        kept = self._kept(test)
        if self._mode == "keep":
            self._judge = Keeping()
        elif kept.exists():
            told = zlib.decompress(kept.read_bytes()).decode("utf-8", "replace")
            events = told.split("\n") if told else []
            self._judge = Steadying(events) if self._mode == "steady" else Comparing(events)
        if self._judge is not None:
            self._follower = Follower(self._file_of, self._judge.meet)
            self._follower.start()

    def _end(self, test: str) -> None:
        follower, judge = self._follower, self._judge
        self._follower = self._judge = None
        if follower is None or judge is None:
            return
        follower.stop()
        judge.end()
        if isinstance(judge, Comparing):
            self._turns[test] = judge.turn and {"place": follower.place, "line": follower.line, **judge.turn}
        else:
            told = "\n".join(event.replace("\n", " ") for event in judge.events)
            self._kept(test).write_bytes(zlib.compress(told.encode("utf-8", "replace"), 1))

    def _kept(self, test: str) -> Path:
        return self._events / hashlib.blake2b(test.encode("utf-8", "replace"), digest_size=12).hexdigest()

    def _file_of(self, file: str) -> str | None:
        """Relative to the project; None for tests, and for what is not the project's."""
        if file not in self._files:
            self._files[file] = os.path.relpath(file, self._root) if self._is_inside(file) else None
        return self._files[file]

    def _is_inside(self, file: str) -> bool:
        if not file.startswith(self._sources):
            return False
        *folders, name = os.path.relpath(file, self._root).replace("\\", "/").split("/")
        is_test = name.startswith(("test_", "conftest.")) or name.endswith("_test.py")
        return not is_test and _OUTSIDE.isdisjoint(folders)


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    if "WHET_TURNING" in os.environ and not pluginmanager.hasplugin("whet_turning_instance"):
        plan = json.loads(Path(os.environ["WHET_TURNING"]).read_text(encoding="utf-8"))
        pluginmanager.register(Turning(plan), "whet_turning_instance")
