"""Killed with -9 after any step, and started again, learning ends where it would have ended."""

import multiprocessing
import shutil
import signal
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.improvement.learning_site import START, live, made, ticked

from whet.bootstrap.candidates import registry
from whet.bootstrap.site import Site, open_site
from whet.core.candidates import Stage


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


def killed_everywhere(site: Site, now: datetime) -> int:
    """Killed after the first step, started again and killed after the second, and so on; how often it died."""
    for deaths in range(100):
        process = multiprocessing.get_context("fork").Process(target=ticked, args=(site, now, 1 + deaths))
        process.start()
        process.join(120)
        if process.exitcode == 0:
            return deaths
        assert process.exitcode == -signal.SIGKILL
    raise AssertionError("it never came to an end")


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = made(tmp_path_factory.mktemp("learning") / "project")
    with site.store() as store:
        live(site, store, runs=30, first=0)
    return site


def test_killed_after_any_step_it_ends_where_it_would_have(lived: Site, tmp_path: Path) -> None:
    stages = []
    for first in (30, 120, 210):
        now = START + timedelta(minutes=first)
        twin = open_site(Path(shutil.copytree(lived.project.root, tmp_path / f"twin-{first}")))
        ticked(lived, now)
        assert killed_everywhere(twin, now) >= 3
        assert standing(twin) == standing(lived)
        with lived.store() as store:
            stages.append(store.candidates.all()[-1].stage)
            live(lived, store, runs=90, first=first, effect=_better)
    assert stages == [Stage.CANARY, Stage.CANARY, Stage.PRODUCTION]


def _better(policy: str, reward: Any) -> Any:
    gain = 20.0 if policy.startswith("candidate-") else 0.0
    return reward.model_copy(update={"credited": reward.credited + gain})
