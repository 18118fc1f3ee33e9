"""What every `TrainingQueue` must do. Run all of it against an implementation of your own::

    @pytest.mark.parametrize("check", whet.checks.queue.CHECKS)
    def test_my_queue(check, tmp_path):
        check(lambda lease_seconds=60.0: MyQueue(tmp_path, lease_seconds))

As with `whet.checks.store`, the function opens the same, initially empty, queue each time.
"""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Protocol

from whet.checks.expectations import expect, expect_error
from whet.core.errors import RefusedInput
from whet.core.queues import LARGEST_BODY_BYTES, Delivery, Message, TrainingQueue

SHORT_LEASE = 1.0
_PATIENCE_SECONDS = 60.0  # how long something that must happen may take on a busy machine


class Opened(Protocol):
    def __call__(self, lease_seconds: float = 60.0) -> TrainingQueue: ...


Check = Callable[[Opened], None]
CHECKS: list[Check] = []

_ODD_KEYS = (
    *("nul \0 inside", "\0", " ", "quote ' \" \\ % _ {} \r\n", "substitute \x1a0000", "é", "e\u0301", "E", "e"),
    *("🧪" * 200, "x" * 200, "a/b:c,d", "-1", "*", ">"),
)
_ODD_BODIES = (b"", b"\0", bytes(range(256)), b'{"a": 1}', b"\xff" * LARGEST_BODY_BYTES)


def _check(check: Check) -> Check:
    CHECKS.append(check)
    return check


def some(count: int, first: int = 0) -> list[Message]:
    return [Message(f"key-{number}", f"body-{number}".encode()) for number in range(first, first + count)]


def keys(deliveries: Iterable[Delivery]) -> list[str]:
    return [each.message.key for each in deliveries]


def taken_until(queue: TrainingQueue, wanted: set[str], consumer: str = "one") -> list[Delivery]:
    """Take, without saying done, until all of `wanted` were met."""
    met: list[Delivery] = []
    until = time.monotonic() + _PATIENCE_SECONDS
    while not wanted <= set(keys(met)) and time.monotonic() < until:
        met += queue.take(consumer, 100, wait_seconds=0.1)
    expect(wanted - set(keys(met)), set(), "not delivered")
    return met


@_check
def messages_come_back_unchanged_oldest_first(opened: Opened) -> None:
    messages = [Message(key, b"%d" % number) for number, key in enumerate(_ODD_KEYS)]
    messages += [Message(f"body-{number}", body) for number, body in enumerate(_ODD_BODIES)]
    with closing(opened()) as queue:
        expect(queue.take("one", 10), [], "of an empty queue")
        queue.put(messages)
        came = queue.take("one", 100)
        expect([(each.message.key, len(each.message.body)) for each in came], [(k, len(b)) for k, b in messages], "all")
        expect([each.message for each in came] == messages, True, "every byte")
        expect({each.attempt for each in came} <= {1, None}, True, "the first attempt")
        expect(len({each.receipt for each in came}), len(messages), "receipts that differ")


@_check
def lone_surrogates_are_carried_or_refused(opened: Opened) -> None:
    odd = Message("surrogate \ud800 and \udfff\ud83e", b"odd")
    with closing(opened()) as queue:
        try:
            queue.put([odd])
        except RefusedInput:
            expect(queue.take("one", 10), [], "after refusing")
        else:
            expect([each.message for each in queue.take("one", 10)], [odd], "carried")


@_check
def outside_the_limits_nothing_is_put(opened: Opened) -> None:
    with closing(opened()) as queue:
        for key, body in (("", b""), ("x" * 201, b""), ("large", b"x" * (LARGEST_BODY_BYTES + 1))):
            expect_error(RefusedInput, queue.put, [Message("before", b""), Message(key, body), Message("after", b"")])
        queue.put([])
        queue.put([Message("within", b"")])
        expect(keys(queue.take("one", 10)), ["within"], "what was put")


@_check
def no_more_than_the_limit_is_taken(opened: Opened) -> None:
    with closing(opened()) as queue:
        queue.put(some(15))
        queue.put(some(10, first=15))
        expect(queue.take("one", 0), [], "none asked for")
        rounds = [keys(queue.take("one", 10)) for _ in range(4)]
        expect([len(each) for each in rounds], [10, 10, 5, 0], "taken each time")
        expect([key for each in rounds for key in each], [key for key, _ in some(25)], "oldest first")


@_check
def what_is_done_never_comes_again(opened: Opened) -> None:
    with closing(opened(SHORT_LEASE)) as queue:
        queue.put(some(6))
        first = queue.take("one", 4)
        queue.done(first)
        queue.done(first)
        queue.done([])
    time.sleep(SHORT_LEASE + 0.1)  # what was only taken would come again
    with closing(opened(SHORT_LEASE)) as queue:
        rest = taken_until(queue, {"key-4", "key-5"}, "two")
        expect(set(keys(rest)), {"key-4", "key-5"}, "after opening again")
        queue.done(rest)
        queue.done(first)
        queue.put([Message("last", b"")])
        expect(set(keys(taken_until(queue, {"last"}, "two"))), {"last"}, "in the end")


@_check
def what_waits_is_counted_or_unknown(opened: Opened) -> None:
    with closing(opened()) as queue:

        def expect_waiting(count: int, when: str) -> None:
            told = queue.waiting()
            expect(told if told is None else count, told, when)

        expect_waiting(0, "of an empty queue")
        queue.put(some(3))
        queue.put(some(1, first=3))
        expect_waiting(4, "after putting")
        held = queue.take("one", 3)
        expect_waiting(4, "taken ones are not done with")
        queue.done(held)
        expect_waiting(1, "after three were done")


@_check
def done_in_any_order_loses_nothing(opened: Opened) -> None:
    with closing(opened(SHORT_LEASE)) as queue:
        queue.put(some(4))
        held = taken_until(queue, {"key-0", "key-1", "key-2", "key-3"})
        queue.done([each for each in held if each.message.key in ("key-3", "key-1")])
    with closing(opened(SHORT_LEASE)) as queue:
        taken_until(queue, {"key-0", "key-2"}, "two")


@_check
def what_waits_is_kept_when_nobody_is_there(opened: Opened) -> None:
    for number in range(2):
        with closing(opened()) as queue:
            queue.put(some(3, first=3 * number))
    with closing(opened()) as queue:
        expect(keys(queue.take("one", 10)), [key for key, _ in some(6)], "after opening again")


@_check
def whoever_keeps_it_too_long_loses_it_to_another(opened: Opened) -> None:
    with closing(opened(SHORT_LEASE)) as silent, closing(opened(SHORT_LEASE)) as other:
        silent.put(some(5))
        kept_too_long = silent.take("silent", 3)
        expect(keys(kept_too_long), ["key-0", "key-1", "key-2"], "taken by who then says nothing")
        came = taken_until(other, {key for key, _ in some(5)}, "other")
        again = [each.attempt for each in came if each.message.key == "key-0"]
        expect(all(attempt is None or attempt > 1 for attempt in again), True, "attempts are counted or unknown")
        other.done(came)
        silent.done(kept_too_long)
        other.put([Message("last", b"")])
        expect(set(keys(taken_until(other, {"last"}, "other"))), {"last"}, "in the end")


@_check
def several_consumers_get_each_message_once(opened: Opened) -> None:
    """Four openings, as four processes have."""
    messages = some(200)
    met: Counter[str] = Counter()
    until, counting = time.monotonic() + _PATIENCE_SECONDS, threading.Lock()

    def consume(name: str) -> None:
        with closing(opened()) as queue:
            while len(met) < len(messages) and time.monotonic() < until:
                came = queue.take(name, 7, wait_seconds=0.1)
                with counting:
                    met.update(keys(came))
                queue.done(came)

    with closing(opened()) as queue:
        queue.put(messages)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(consume, ("a", "b", "c", "d")))
    expect(met, Counter({key: 1 for key, _ in messages}), "how often each was delivered")


@_check
def the_same_key_put_twice_is_the_same_message(opened: Opened) -> None:
    message = Message("same", b"body")
    with closing(opened()) as queue:
        queue.put([message, message])
        queue.put([message])
        queue.put([Message("last", b"")])
        came = taken_until(queue, {"last"})
        expect({each.message for each in came}, {message, Message("last", b"")}, "what was put")
        if queue.drops_duplicates:
            expect(keys(came), ["same", "last"], "duplicates are dropped")
        queue.done(came)
        expect(queue.take("one", 10), [], "when all are done")


@_check
def waiting_for_a_message_ends_when_it_comes(opened: Opened) -> None:
    with closing(opened()) as queue:
        expect(queue.take("one", 10, wait_seconds=0.05), [], "nothing comes")

        def put_later() -> None:
            with closing(opened()) as other:
                time.sleep(0.2)
                other.put([Message("late", b"")])

        with ThreadPoolExecutor(1) as pool:
            putting = pool.submit(put_later)
            expect(keys(queue.take("one", 10, wait_seconds=_PATIENCE_SECONDS)), ["late"], "what was put meanwhile")
            putting.result()


@_check
def a_killed_process_loses_what_it_held(opened: Opened) -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(round(_PATIENCE_SECONDS))  # a copy of a process with threads may hang, and we wait for its word
        try:
            queue = opened(SHORT_LEASE)
            queue.put(some(12))
            os.write(writing, " ".join(keys(queue.take("killed", 5))).encode())
            signal.pause()
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as told:
        held = os.read(told.fileno(), 4096).decode().split()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    expect(held, [key for key, _ in some(5)], "what the other process took")
    with closing(opened(SHORT_LEASE)) as queue:
        taken_until(queue, {key for key, _ in some(12)}, "heir")
