"""kill -9 between any two calls of the learning loop, and inside them: nothing is lost, nothing happens twice."""

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, islice

from tests.forked import forked

from whet.checks.candidates import AT, new, step
from whet.checks.store_samples import experience
from whet.core.candidates import Candidate, Stage
from whet.core.learning_log import Judged, Quality
from whet.core.queues import Message
from whet.core.records import Experience
from whet.store import SqlStore, open_store
from whet.store.queue import SqlQueue

KEY = b"key"
NEXT = {Stage.TRAINED: Stage.PROVEN, Stage.PROVEN: Stage.CANARY, Stage.CANARY: Stage.PRODUCTION}


def _tick(store: SqlStore) -> Iterator[None]:
    """One round of the loop, stopping after every call that changes something."""
    queue = SqlQueue(store._database, lease_seconds=0.01)
    seen = store.learning.unread(7)
    if seen:
        lived = [each.experience for each in seen if isinstance(each.experience, Experience)]
        queue.put([Message(each.key, each.model_dump_json().encode()) for each in lived])
        yield
        judged = [Judged(each.experience.key, "runner", Quality.GOOD, "") for each in seen]
        store.learning.judge(judged, seen[-1].position)
        yield
    held = queue.take("learner", 100)
    yield
    store.learning.collect([Experience.model_validate_json(each.message.body) for each in held], AT)
    yield
    queue.done(held)
    yield
    store.learning.close_batch("runner", AT, 3)
    yield
    made = {each.key for each in store.candidates.all()}
    for batch in store.learning.batches():
        if f"batch:{batch.number}" not in made:
            store.candidates.add(new(f"batch:{batch.number}"), AT)
            yield
    for candidate in reversed(store.candidates.all()):
        known: Candidate | None = candidate
        while known is not None and known.stage in NEXT:
            known = store.candidates.move(step(known, NEXT[known.stage], 0.5), AT)
            yield


def _killed(work: Callable[[int], None], after_seconds: float | None) -> list[str]:
    """What `work` acknowledged before it was killed: by itself, or so long after it began to acknowledge."""
    reading, writing = os.pipe()
    child = forked(lambda: work(writing))
    os.close(writing)
    first = b""
    if after_seconds is not None:
        first = os.read(reading, 65536)
        time.sleep(after_seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, "it failed by itself"
    with os.fdopen(reading, "rb") as acknowledged:
        return (first + acknowledged.read()).decode().splitlines()


def _settled(url: str, learned: set[str]) -> None:
    """Go on until nothing is left to do; everything that was learned is in one batch, each batch made one candidate."""
    with open_store(url, audit_key=KEY) as store:
        for _ in range(40):
            list(_tick(store))
            time.sleep(0.002)
            if not store.queue.waiting() and not store.learning.unread(1) and _at_rest(store):
                break
        store.learning.close_batch("runner", AT, 1)
        stored = {each.key for each in store.experiences.recent(limit=10_000)}
        assert learned <= stored
        batches = store.learning.batches()
        members = Counter(each.key for batch in batches for each in store.learning.members(batch.number))
        assert members == Counter(stored)
        assert sum(batch.size for batch in batches) == len(stored)
        assert store.learning.verdicts()[Quality.GOOD] == len(stored)
        made = {each.key for each in store.candidates.all()}
        assert made <= {f"batch:{batch.number}" for batch in batches}
        assert len(made) == len(store.candidates.all())
        assert _at_rest(store)
        assert store.audit.verify().problem is None


def _at_rest(store: SqlStore) -> bool:
    stages = Counter(each.stage for each in store.candidates.all())
    return set(stages) <= {Stage.PRODUCTION, Stage.RETIRED} and stages[Stage.PRODUCTION] <= 1


def test_killed_between_two_calls(store_url: str) -> None:
    """After the first call, after the second, … after one whole round; the next one goes on from there."""
    learned: set[str] = set()
    for calls in range(1, 12):
        with open_store(store_url, audit_key=KEY) as store:
            for number in range(3):
                store.experiences.learn(experience(f"{calls} {number}"), None)
                learned.add(f"{calls} {number}")

        def work(_: int, calls: int = calls) -> None:
            store = open_store(store_url, audit_key=KEY)
            endless = (None for _ in count() for _ in _tick(store))
            list(islice(endless, calls))
            os.kill(os.getpid(), signal.SIGKILL)

        _killed(work, None)
    _settled(store_url, learned)


def test_killed_inside_calls(store_url: str) -> None:
    open_store(store_url, audit_key=KEY).close()
    learned: set[str] = set()
    for kill in range(6):

        def work(writing: int, name: str = f"learner {kill}") -> None:
            store = open_store(store_url, audit_key=KEY)
            for number in count():
                key = f"{name} {number}"
                store.experiences.learn(experience(key), None)
                os.write(writing, f"{key}\n".encode())
                if number % 5 == 4:
                    list(_tick(store))

        learned.update(_killed(work, 0.03 * kill))
    _settled(store_url, learned)
