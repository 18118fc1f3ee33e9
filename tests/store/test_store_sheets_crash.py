"""kill -9 while sheets are added or merged: what was acknowledged is there, and nothing is half done."""

import os
import signal
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from tests.forked import forked
from tests.store.histories import exported, file_of

from whet.checks.sheets import sheet
from whet.core.sheets import Sheet, Snapshot
from whet.store import open_store
from whet.store.merging import merge_histories


def _killed(work: Callable[[int], None], after_seconds: float) -> list[str]:
    """What `work` acknowledged to the pipe it was given before it was killed."""
    reading, writing = os.pipe()
    child = forked(lambda: work(writing))
    os.close(writing)
    first = os.read(reading, 65536).decode()
    time.sleep(after_seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, "it failed by itself"
    with os.fdopen(reading) as acknowledged:
        return (first + acknowledged.read()).splitlines()


def _pair(name: str, number: int) -> list[Sheet]:
    """Two sheets that are added together, with names of their own."""
    tests = tuple(f"{name}::{number}::{test}" for test in range(50))
    columns = {"tests": tests, "outcomes": "p" * 50, "seconds": [0.5] * 50}
    return [sheet(number, id=f"{name}/{number}/{half}", **columns) for half in "ab"]


def test_sheets_survive_kills(store_url: str) -> None:
    open_store(store_url).close()
    acknowledged: set[str] = set()
    for kill in range(12):

        def work(writing: int, name: str = f"writer {kill}") -> None:
            store = open_store(store_url)
            for number in count():
                pair = _pair(name, number)
                store.sheets.add(pair)
                store.sheets.keep("lane", Snapshot(number, pair[0].key, pair[0].id.encode()))
                os.write(writing, f"{name}/{number}\n".encode())

        acknowledged.update(_killed(work, 0.004 * kill))
    with open_store(store_url) as store:
        found = {each.id: list(each.tests) for each in store.sheets.read()}
        kept = store.sheets.snapshot("lane")
    assert {f"{each}/{half}" for each in acknowledged for half in "ab"} <= set(found)
    assert {each[:-1] + "b" for each in found} == {each for each in found if each.endswith("b")}, "both or none"
    assert all(tests[0] == each.replace("/", "::")[:-1] + "0" for each, tests in found.items())
    assert kept is not None
    assert kept.state.decode() in found


def test_a_merge_that_was_killed_left_nothing_or_everything(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'from.db'}") as source:
        source.sheets.add(each for number in range(300) for each in _pair("run", number))
        file = file_of(source, tmp_path / "history.whet")
        whole = exported(source)
    url = f"sqlite:///{tmp_path / 'to.db'}"
    with open_store(url) as store:
        empty = exported(store)

    def work(writing: int) -> None:
        store = open_store(url)
        os.write(writing, b"begun\n")
        merge_histories(store.sheets, [file])
        time.sleep(60)

    for after_seconds in (0.05, 0.1, 0.2, 0.3, 0.5):
        _killed(work, after_seconds)
        with open_store(url) as store:
            assert exported(store) in (empty, whole)
    with open_store(url) as store:
        merge_histories(store.sheets, [file])
        assert exported(store) == whole
