"""Killed with -9 after any step or at either end of any write, and started again, learning ends where it would have."""

import os
import shutil
import signal
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event
from tests.forked import forked
from tests.improvement.learning_site import START, at_work, live, made, ticked

from whet.bootstrap.candidates import registry
from whet.bootstrap.site import Site, open_site
from whet.core.candidates import Stage

# At a given time, in the process that dies: after so many steps, or writes.
Tick = Callable[[Site, datetime, int], object]


def standing(site: Site) -> dict[str, Any]:
    """Everything that learning is about, in the store and in the registry."""
    with site.store() as store:
        candidates = store.candidates.all()
        return {
            # Whoever starts again looks once more, so that the last look may be another one.
            "candidates": [each.model_dump(mode="json", exclude={"evidence", "why"}) for each in candidates],
            "batches": [each.model_dump(mode="json") for each in store.learning.batches()],
            "members": [[e.key for e in store.learning.members(b.number)] for b in store.learning.batches()],
            "verdicts": dict(store.learning.verdicts()),
            "unread": len(store.learning.unread(10)),
            "waiting": store.queue.waiting(),
            "audit": store.audit.verify().problem,
            "aliases": {each.agent: dict(registry(site).named(each.agent)) for each in candidates},
            "kept": registry(site).digests(),
        }


def killed_everywhere(site: Site, now: datetime, tick: Tick) -> int:
    """Killed at the first place, started again and killed at the second, and so on; how often it died."""
    for deaths in range(100):
        _, status = os.waitpid(forked(partial(tick, site, now, 1 + deaths)), 0)
        if status == 0:
            return deaths
        assert os.WTERMSIG(status) == signal.SIGKILL
    raise AssertionError("it never came to an end")


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = made(tmp_path_factory.mktemp("learning") / "project")
    with site.store() as store:
        live(site, store, runs=30, first=0)
    return site


def ticked_writing(site: Site, now: datetime, die_at: int) -> None:
    """Ends its process with SIGKILL when so many writes were about to begin or to be committed."""
    left = die_at

    def passed(connection: Connection) -> None:
        nonlocal left
        left -= bool(connection.get_execution_options().get("whet_writes"))
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    with site.store() as store, at_work(site, store) as learning:
        store.queue._lease_seconds = 1e-3  # started again when what the dead one had taken comes again
        for name in ("begin", "commit"):
            event.listen(store._database.engine, name, passed)
        list(learning.tick(now))


@pytest.mark.parametrize("tick", [ticked, ticked_writing])
def test_killed_anywhere_it_ends_where_it_would_have(begun: Site, tmp_path: Path, tick: Tick) -> None:
    lived, stages = open_site(Path(shutil.copytree(begun.project.root, tmp_path / "project"))), []
    for first in (30, 120, 210):
        now = START + timedelta(minutes=first)
        twin = open_site(Path(shutil.copytree(lived.project.root, tmp_path / f"twin-{first}")))
        ticked(lived, now)
        assert killed_everywhere(twin, now, tick) >= 3
        assert standing(twin) == standing(lived)
        with lived.store() as store:
            stages.append(store.candidates.all()[-1].stage)
            live(lived, store, runs=90, first=first, effect=_better)
    assert stages == [Stage.CANARY, Stage.CANARY, Stage.PRODUCTION]


def _better(policy: str, reward: Any) -> Any:
    gain = 20.0 if policy.startswith("candidate-") else 0.0
    return reward.model_copy(update={"credited": reward.credited + gain})
