"""The probe's hooks; see the package."""

from __future__ import annotations

import os
import random
import sys

import pytest

from .selection import Selection, clean
from .watch import Events, Senses, Verdict, message_of, wall_clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path
    from typing import Any

    Wrapper = Generator[None, Any, None]

_RETRIERS = ("rerunfailures", "flaky")
_MOST_TEXTS = 50  # of failures, in full: what comes after the first ones is mostly the same again


class Probe:
    def __init__(self, plan: dict[str, Any], events: Events) -> None:
        self._plan = plan
        self._events = events
        self._selection = Selection(plan)
        self._senses = Senses()
        self._ids: dict[int, str] = {}  # by identity: an item hashes by its id, which plugins change
        self._verdicts: dict[str, Verdict] = {}
        self._texts_left = _MOST_TEXTS
        self._started_seconds: float | None = None
        self._worker: str | None = None

    def _now_seconds(self) -> float:
        started_at: float = self._plan["started_at"]
        return max(0.0, wall_clock() - started_at)

    # How pytest runs.

    @pytest.hookimpl(hookwrapper=True)
    def pytest_load_initial_conftests(self, early_config: pytest.Config) -> Wrapper:
        options = early_config.known_args_namespace
        if hasattr(options, "cov_source"):
            options.cov_source = []  # pytest-cov would slow the run down, or fail it for its coverage
        yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> Wrapper:
        if self._plan["sequential"] and hasattr(config.option, "numprocesses"):
            config.option.numprocesses = 0
        yield

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        self._worker = getattr(config, "workerinput", {}).get("workerid")
        if self._plan["order"] != "own" and hasattr(config.option, "randomly_reorganize"):
            config.option.randomly_reorganize = False
        if self._plan["seed"] is not None and hasattr(config.option, "randomly_seed"):
            config.option.randomly_seed = self._plan["seed"] % 2**32
        if self._plan["no_retries"]:
            # Not earlier: by now their options are parsed and their markers registered.
            for name in filter(config.pluginmanager.hasplugin, _RETRIERS):
                config.pluginmanager.unregister(name=name)

    # What is collected.

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        return True if self._selection.ignores(collection_path, config.rootpath) else None

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        self._ids[id(item)] = clean(item.nodeid)  # kept, since xdist later adds the group to it

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> Wrapper:
        yield
        chosen = self._selection.apply([(self._id(item), item) for item in items])
        collected = items[:]
        items[:] = [item for _, item in chosen]
        kept = set(map(id, items))
        deselected = [item for item in collected if id(item) not in kept]
        if deselected:
            config.hook.pytest_deselected(items=deselected)
        if self._worker in (None, "gw0"):
            tests = [[node_id, *self._place(item)] for node_id, item in chosen]
            self._events.say(event="collected", total=len(collected), tests=tests)

    def _id(self, item: pytest.Item) -> str:
        return self._ids.get(id(item)) or clean(item.nodeid)

    def _place(self, item: pytest.Item) -> tuple[str, int | None]:
        """File, from the project's root, and line."""
        file, line, _ = item.location
        path = os.path.relpath(str(item.config.rootpath / file), self._plan["root"])
        return clean(path.replace(os.sep, "/")), None if line is None else line + 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self._worker is None:
            message = f"{clean(report.nodeid) or 'collection'}: {message_of(report)}"
            self._events.say(event="collection_error", message=message)

    # What runs.

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Wrapper:
        self._started_seconds = self._now_seconds()
        self._events.say(event="started", id=self._id(item))
        self._seed()
        self._switch_context(self._id(item))
        self._senses.reset()
        yield
        self._switch_context("")

    def _seed(self) -> None:
        seed = self._plan["seed"]
        if seed is None:
            return
        random.seed(seed)
        # Not sys.modules["numpy.random"]: numpy imports it when it is first used.
        numpy_seed = getattr(getattr(sys.modules.get("numpy"), "random", None), "seed", None)
        if callable(numpy_seed):
            numpy_seed(seed % 2**32)

    def _switch_context(self, context: str) -> None:
        if self._plan["contexts"]:
            import coverage

            current = coverage.Coverage.current()
            if current is not None:
                current.switch_context(context)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Wrapper:
        answer = yield
        report = answer.get_result()
        report.whet_facts = dict(
            self._senses.facts(), id=self._id(item), started_seconds=self._started_seconds, place=self._place(item)
        )

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._worker is not None:
            return
        verdict = self._verdicts.setdefault(report.nodeid, Verdict())
        verdict.add(report)
        if verdict.complete(report):
            del self._verdicts[report.nodeid]
            self._finish(report, verdict)

    def _finish(self, report: pytest.TestReport, verdict: Verdict) -> None:
        facts = getattr(report, "whet_facts", {})
        file, line = facts.get("place") or (None, None)
        text = verdict.text if self._texts_left > 0 else ""
        self._texts_left -= bool(text)
        self._events.say(
            event="finished",
            id=facts.get("id") or clean(report.nodeid),
            outcome=verdict.outcome,
            duration_seconds=verdict.duration_seconds,
            started_seconds=facts.get("started_seconds"),
            ended_seconds=self._now_seconds(),
            message=verdict.message,
            text=text,
            retries=verdict.retries,
            file=file,
            line=line,
            network=facts.get("network"),
            slept_seconds=facts.get("slept_seconds"),
        )

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        if self._worker is None:
            self._events.say(event="ended")
