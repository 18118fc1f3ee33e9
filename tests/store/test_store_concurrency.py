"""128 learners at once, in several processes, lose nothing and never wait for each other in a circle."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

from whet.checks.store_samples import CATEGORY, FLEET, OWN, SITUATION, SampleState, experience, pending
from whet.core.ports import Cell, Lesson, Move, Scope
from whet.core.records import Review
from whet.store import open_store

PROCESSES, THREADS, UPDATES = 8, 16, 4
LEARNERS = PROCESSES * THREADS


def _lesson(learner: int, number: int) -> Lesson:
    """Everyone moves one hot cell and the shared tables, in opposite orders, and a cell of few."""
    few = OWN._replace(owner=f"agent {learner % 4}")
    cells = [few, CATEGORY, FLEET] if learner % 2 else [FLEET, CATEGORY, few]
    first, *rest = (Move(cell=cell, rate=0.1) for cell in (OWN, *cells))
    return Lesson(target=float(number), own=(first, rest[0]), shared=tuple(rest[1:]))


def _learn(url: str, process: int, answers: "multiprocessing.SimpleQueue[int]") -> None:
    with open_store(url, audit_key=b"key") as store, ThreadPoolExecutor(THREADS) as pool:

        def work(thread: int) -> int:
            learner = process * THREADS + thread
            keys = [(f"everyone's {n}", n) for n in range(2)] + [(f"{learner} {n}", n) for n in range(UPDATES)]
            return sum(store.experiences.learn(experience(key), _lesson(learner, n)) for key, n in keys)

        answers.put(sum(pool.map(work, range(THREADS))))


def test_128_concurrent_learners_lose_no_update(store_url: str) -> None:
    open_store(store_url).close()
    # Copies of a process without threads: one of this process may wait for a lock that nobody is left to release.
    copies = multiprocessing.get_context("forkserver")
    answers: multiprocessing.SimpleQueue[int] = copies.SimpleQueue()
    processes = [
        copies.Process(target=_learn, args=(store_url, number, answers), daemon=True) for number in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    expected = LEARNERS * UPDATES + 2  # the two keys that everyone delivered count once
    assert sum(answers.get() for _ in processes) == expected
    with open_store(store_url, audit_key=b"key") as store:
        assert store.experiences.count() == expected
        cells: list[Cell] = [OWN, CATEGORY, FLEET]
        entries = store.tables.read(cells)
        assert [entries[cell].visits for cell in cells] == [expected] * 3
        few = [store.tables.rows(Scope.INDIVIDUAL, f"agent {number}") for number in range(4)]
        assert sum(entry.visits for rows in few for entry in rows.values()) == expected
        assert abs(entries[OWN].mean - (LEARNERS * (0 + 1 + 2 + 3) + 0 + 1) / expected) < 1e-9
        report = store.audit.verify()
        assert (report.problem, report.entries) == (None, expected)


def test_writes_that_read_first_do_not_fail_each_other(store_url: str) -> None:
    """Separate openings share no lock of ours; the database alone makes them take turns."""
    made = pending()
    with open_store(store_url) as one, open_store(store_url) as two, ThreadPoolExecutor(4) as pool:
        one.decisions.record(made, SampleState(situation=SITUATION))

        def judge(number: int) -> str:
            store = one if number % 2 else two
            return store.decisions.rule(made.id, Review.APPROVED, "go", f"person {number}").by

        assert list(pool.map(judge, range(40))) == [f"person {number}" for number in range(40)]
        assert one.audit.verify().entries == 41
