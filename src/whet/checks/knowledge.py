"""What every `ServiceKnowledge` must do. Run all of it against an implementation of your own::

    @pytest.mark.parametrize("check", whet.checks.knowledge.CHECKS)
    def test_my_knowledge(check, tmp_path):
        check(lambda: MyStore(tmp_path))

As with `whet.checks.store`, the function opens the same, initially empty, store each time.
"""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from whet.checks.expectations import expect, expect_error
from whet.core.errors import RefusedInput
from whet.core.ports import LARGEST_KNOWLEDGE_BYTES, Store

Opened = Callable[[], Store]
Check = Callable[[Opened], None]
CHECKS: list[Check] = []

SERVICE = "http://127.0.0.1:8000"
_ODD = "nul \0 surrogate \ud800\udfff substitute \x1a0000 emoji 🧪 quote ' \" \\ % _ {} \r\n" * 40


def _check(check: Check) -> Check:
    CHECKS.append(check)
    return check


def counted_up(earlier: str | None) -> str:
    """One more than what is kept: a lost update shows as a number that is too small."""
    return json.dumps(1 if earlier is None else json.loads(earlier) + 1)


@_check
def documents_come_back_unchanged(opened: Opened) -> None:
    with closing(opened()) as store:
        expect(store.knowledge.load(SERVICE), None, "of a service never met")
        expect(store.knowledge.update(SERVICE, lambda earlier: f"{earlier} {_ODD}"), f"None {_ODD}", "what is kept")
        store.knowledge.update(_ODD, lambda _: "")
    with closing(opened()) as store:
        expect(store.knowledge.load(SERVICE), f"None {_ODD}", "after opening again")
        expect(store.knowledge.load(_ODD), "", "an empty document")
        expect(store.knowledge.load(SERVICE + "/"), None, "of another service")


@_check
def an_update_is_told_what_is_kept(opened: Opened) -> None:
    with closing(opened()) as store:
        for _ in range(3):
            store.knowledge.update(SERVICE, counted_up)
        expect(store.knowledge.load(SERVICE), "3", "after three updates")


@_check
def services_are_listed_and_forgotten(opened: Opened) -> None:
    with closing(opened()) as store:
        expect(store.knowledge.services(), [], "of an empty store")
        for service in ("b", "a", "B"):
            store.knowledge.update(service, lambda _: "{}")
        expect(store.knowledge.services(), ["B", "a", "b"], "sorted")
        expect((store.knowledge.forget("a"), store.knowledge.forget("a")), (True, False), "forgotten once")
        expect((store.knowledge.services(), store.knowledge.load("a")), (["B", "b"], None), "the others")


@_check
def large_documents_are_kept_and_larger_ones_refused(opened: Opened) -> None:
    largest = "é" * (LARGEST_KNOWLEDGE_BYTES // 2)
    with closing(opened()) as store:
        store.knowledge.update(SERVICE, lambda _: largest)
        expect_error(RefusedInput, store.knowledge.update, SERVICE, lambda _: largest + "x")
        expect(store.knowledge.load(SERVICE) == largest, True, "the document before the refused one")


@_check
def a_failed_combination_changes_nothing(opened: Opened) -> None:
    def broken(earlier: str | None) -> str:
        raise KeyError(earlier)

    with closing(opened()) as store:
        expect_error(KeyError, store.knowledge.update, SERVICE, broken)
        expect(store.knowledge.services(), [], "nothing was kept")
        store.knowledge.update(SERVICE, counted_up)
        expect_error(KeyError, store.knowledge.update, SERVICE, broken)
        expect(store.knowledge.load(SERVICE), "1", "what was kept")


@_check
def runs_at_once_lose_nothing(opened: Opened) -> None:
    """Six openings, as six processes have; the very first updates meet no document."""
    with ThreadPoolExecutor(6) as pool:

        def work(_: int) -> None:
            with closing(opened()) as store:
                for _ in range(5):
                    store.knowledge.update(SERVICE, counted_up)

        list(pool.map(work, range(6)))
    with closing(opened()) as store:
        expect(store.knowledge.load(SERVICE), "30", "updates counted")
