"""What reaches the training set: not what is none any more, not what comes too late, and everything else once."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update
from tests.improvement.learning_site import START, live, made, ticked

from whet.bootstrap.learning import judge, pipeline
from whet.bootstrap.site import Site
from whet.core.learning_log import Quality
from whet.core.queues import Message
from whet.core.records import Experience
from whet.improvement.intake.retention import Retention
from whet.improvement.pipeline import Phase, Told
from whet.store.learning_schema import training_set
from whet.store.schema import experiences
from whet.store.sql_store import SqlStore

NOW = START + timedelta(hours=1)
# As an earlier version might have written it, or somebody with a database shell.
BROKEN: tuple[dict[str, Any], ...] = {"decision": {"id": "?"}}, {"state": ["no", "state"]}, {"kind": "of long ago"}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return made(tmp_path / "project")


def _spoil(store: SqlStore) -> list[str]:
    """The oldest three rows; their keys."""
    oldest = select(experiences.c.key).order_by(experiences.c.id).limit(3)
    keys = store._database.read(lambda connection: list(connection.scalars(oldest)))
    for key, change in zip(keys, BROKEN, strict=True):
        row = update(experiences).where(experiences.c.key == key).values(**change)
        store._database.write(lambda connection, row=row: connection.execute(row))  # type: ignore[misc]
    return keys


def test_what_is_no_experience_any_more_is_malformed_and_stops_nothing(site: Site) -> None:
    with site.store() as store:
        live(site, store, runs=40, first=0)
        lived, keys = store.experiences.count(), _spoil(store)
    told = ticked(site, NOW)
    assert {each.phase for each in told} >= {Phase.COLLECT, Phase.TAKE, Phase.TRAIN}
    with site.store() as store:
        refused = {each.key: each for each in store.learning.refused(lived)}
        assert {key: refused[key].quality for key in keys} == dict.fromkeys(keys, Quality.MALFORMED)
        assert refused[keys[-1]].why.startswith("It is no experience any more: kind: ")
        assert sum(store.learning.verdicts().values()) == lived
        assert len(store.candidates.all()) == 1
        # What reads many goes on as well: what is usual, what is replayed, what is shown.
        assert len(store.experiences.recent(limit=lived)) == lived - len(keys)
        assert len(store.experiences.sample("test-executor", 500, seed=1)) <= 500
        judge(site.settings, store)


def _collected(store: SqlStore) -> list[str]:
    return store._database.read(lambda c: list(c.scalars(select(training_set.c.key).order_by(training_set.c.key))))


def _message(experience: Experience) -> Message:
    return Message(experience.key, experience.model_dump_json().encode())


def _ticked(site: Site, store: SqlStore, now: datetime, kept: int = 0) -> list[Told]:
    with pipeline(site, store) as learning:
        return list(replace(learning, replay_capacity=kept, retention=Retention(verdicts=30)).tick(now))


def test_keys_and_verdicts_are_kept_for_the_retention_and_nothing_counts_twice(site: Site) -> None:
    with site.store() as store:
        live(site, store, runs=20, first=0)
        _ticked(site, store, NOW)  # everything is trained with and let go, none is kept for replay
        (batch,), trained = store.learning.batches(), set(_collected(store))
        again = [_message(each) for each in store.experiences.recent(limit=1000) if each.key in trained]
        assert (len(_collected(store)), store.learning.members(batch.number)) == (batch.size, [])
        assert sum(store.learning.verdicts().values()) == 30  # of all that were judged the newest

        store.queue.put(again)
        _ticked(site, store, NOW + timedelta(days=6))
        assert len(_collected(store)) == batch.size  # known by their keys
        _ticked(site, store, NOW + timedelta(days=8, hours=1))
        assert _collected(store) == []

        store.queue.put(again)
        told = _ticked(site, store, NOW + timedelta(days=9))
        assert [each.sentence for each in told if each.phase is Phase.TAKE] == [
            f"0 experiences are new in the training set; {len(again)} came too late and are stale"
        ]
        assert (_collected(store), len(store.learning.batches())) == ([], 1)


def test_a_thousand_with_duplicates_are_a_thousand_while_keys_are_forgotten(site: Site) -> None:
    """A twentieth is put twice at once, and everything again four days after it was collected."""
    with site.store() as store, pipeline(site, store) as learning:
        live(site, store, runs=1, first=0)
        like, collected = store.experiences.recent(limit=1)[0], 0
        for day in range(0, 20, 2):
            now = NOW + timedelta(days=day)
            fresh, late = _hundred(like, now), _hundred(like, now - timedelta(days=4)) if day >= 4 else []
            for messages in (fresh, fresh[::20], late):
                store.queue.put(messages)
                collected += sum(_new(told) for told in learning._take(now))
            store.learning.close_batch(like.agent, now, 1)
            store.learning.trim(0)
            store.learning.forget(learning.retention.forgotten_before(now), 30)
        assert collected == 1000
        assert len(_collected(store)) == 500  # of the last eight days


def _hundred(like: Experience, at: datetime) -> list[Message]:
    return [_message(like.model_copy(update={"key": f"{at:%m-%d}-{number}", "at": at})) for number in range(100)]


def _new(told: Told) -> int:
    return int(told.sentence.split(" ", 1)[0].replace(",", ""))
