"""What a consumer tells the brokers is done: never more than is done, and all of it once there is no gap."""

from hypothesis import given
from hypothesis import strategies as st

from whet.queues.kafka_progress import Progress

LEASE = 10.0


@given(start=st.integers(0, 50), gaps=st.lists(st.integers(1, 3), max_size=20), data=st.data())
def test_finished_is_what_is_done_without_a_gap(start: int, gaps: list[int], data: st.DataObject) -> None:
    offsets = [start + sum(gaps[:index]) for index in range(len(gaps))]
    progress = Progress(start)
    assert all(progress.meet(offset, 0.0, LEASE) for offset in offsets)
    done: set[int] = set()
    for offset in data.draw(st.permutations(offsets)):
        progress.finish(offset)
        done.add(offset)
        open_ones = [each for each in offsets if each not in done]
        assert progress.finished == (open_ones[0] if open_ones else offsets[-1] + 1)


@given(done=st.sets(st.integers(0, 9)), renewed=st.sets(st.integers(0, 9)))
def test_reading_again_hands_out_what_is_overdue_alone(done: set[int], renewed: set[int]) -> None:
    progress = Progress(0)
    for offset in range(10):
        progress.meet(offset, 0.0, LEASE)
    for offset in done:
        progress.finish(offset)
    for offset in renewed:
        progress.meet(offset, LEASE, LEASE)
    overdue = set(range(10)) - done - renewed
    assert progress.overdue(LEASE + 1, LEASE) == min(overdue, default=None)
    assert {offset for offset in range(10) if progress.meet(offset, LEASE + 1, LEASE)} == overdue


def test_done_twice_or_of_another_is_nothing() -> None:
    progress = Progress(5)
    progress.meet(5, 0.0, LEASE)
    for offset in (5, 5, 99, -1):
        progress.finish(offset)
    assert (progress.finished, progress.position) == (6, 6)


def test_a_gap_is_looked_at_twice() -> None:
    progress = Progress(5)
    assert progress.skips(8)
    assert not progress.skips(8), "the gap is still there"
    progress.meet(8, 0.0, LEASE)
    assert not progress.skips(9)
    assert progress.skips(12)
    assert not progress.skips(9), "what was missing came after all"
