"""What every `Memories` must do. Run all of it against an implementation of your own::

    @pytest.mark.parametrize("check", whet.checks.memories.CHECKS)
    def test_my_memories(check, tmp_path):
        check(lambda: MyStore(tmp_path))

As with `whet.checks.store`, the function opens the same, initially empty, store each time.
"""

import math
import random
import struct
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

from whet.checks.expectations import expect, expect_close, expect_error
from whet.core.errors import RefusedInput
from whet.core.memories import Embedding, Kind, Memory, Near, Outline, Wanted
from whet.core.ports import Store

Opened = Callable[[], Store]
Check = Callable[[Opened], None]
CHECKS: list[Check] = []

AT = datetime(2024, 2, 29, 12, 30, 0, 250_001, tzinfo=UTC)
MODEL = "letters-1"
HERE = Wanted(project="shop")
_ODD = "nul \0 substitute \x1a0000 emoji 🧪 quote ' \" \\ % _ {} \r\n"
_LONE = "\ud800\udfff" + _ODD  # lone surrogates: texts of limited length cannot have them


def _check(check: Check) -> Check:
    CHECKS.append(check)
    return check


def memory(name: str, **changes: Any) -> Memory:
    fields: dict[str, Any] = {"project": "shop", "kind": Kind.EPISODIC, "topic": "failure", "source": name, "at": AT}
    return Memory(**(fields | {"text": f"What {name} is about."} | changes))


def direction(*numbers: float) -> Embedding:
    """The place that lies in this direction."""
    size = math.sqrt(sum(each * each for each in numbers))
    return struct.pack(f"<{len(numbers)}f", *(each / size for each in numbers))


def somewhere(seed: int, dimensions: int = 8) -> Embedding:
    """Near one of seven centres: places of real texts lie in groups."""
    centre, around = random.Random(seed % 7), random.Random(f"around {seed}")  # noqa: S311 - the same in every run
    return direction(*(centre.gauss(0, 1) + 0.2 * around.gauss(0, 1) for _ in range(dimensions)))


def kept(store: Store, names: Sequence[str], **changes: Any) -> list[Memory]:
    made = [memory(name, **changes) for name in names]
    store.memories.keep(made, MODEL, [somewhere(number) for number, _ in enumerate(names)])
    return made


def sources(found: Sequence[Memory] | Sequence[Near]) -> list[str]:
    return [each.memory.source if isinstance(each, Near) else each.source for each in found]


@_check
def memories_come_back_unchanged(opened: Opened) -> None:
    about: dict[str, Any] = {"n": 10**30, "x": -0.0, "tiny": 5e-324, "huge": 1.5e300, "none": None, "yes": True}
    full = memory(
        _ODD,
        project=_ODD,
        kind=Kind.SEMANTIC,
        topic="fact",
        agent=_LONE * 40,
        text=_ODD * 40,
        cue=_ODD,
        subjects=(_ODD, "a", "a", "b"),
        about=about | {"odd": _LONE},
        importance=0.1,
        support=2**63 - 1,
        against=3,
        pinned=True,
        used=7,
        last_used=AT + timedelta(microseconds=1),
    )
    with closing(opened()) as store:
        expect(store.memories.keep([full, memory("plain")], MODEL, [somewhere(1), somewhere(2)]), 2, "new ones")
    with closing(opened()) as store:
        found = store.memories.get([memory("plain").id, "0" * 64, "no id \0 \ud800", full.id])
        expect(found, [memory("plain"), full], "those that exist, in the order asked for")
        expect(repr(sorted(found[1].about.items())), repr(sorted(full.about.items())), "numbers to the bit")
        expect(store.memories.projects(), sorted([_ODD, "shop"]), "projects")
        expect(store.memories.count(HERE), 1, "a project does not see another's")


@_check
def a_known_one_is_replaced_and_stays_pinned_and_used(opened: Opened) -> None:
    with closing(opened()) as store:
        first = memory("same", subjects=("a", "b"))
        store.memories.keep([first], MODEL, [somewhere(1)])
        store.memories.pin(first.id, True)
        store.memories.note_use([first.id], AT)
        later = memory("same", text="Otherwise.", subjects=("b", "c"), support=9, at=AT + timedelta(days=1))
        expect(store.memories.keep([later, memory("new"), later], MODEL, [somewhere(2)] * 3), 1, "new ones")
        now = later.model_copy(update={"pinned": True, "used": 1, "last_used": AT})
        expect(store.memories.get([first.id]), [now], "replaced")
        expect(sources(store.memories.sharing(HERE, ["a"], 9)), [], "what it is about no longer")
        expect(sources(store.memories.sharing(HERE, ["c"], 9)), ["same"], "what it is about now")
        expect_close(store.memories.nearest(HERE, MODEL, somewhere(2), 1, exact=True)[0].likeness, 1.0, "its new place")
        expect(store.memories.models("shop"), {MODEL: 2}, "one place each")


@_check
def the_nearest_come_first_and_equals_by_id(opened: Opened) -> None:
    with closing(opened()) as store:
        made = [memory(f"{number}") for number in range(6)]
        places = [direction(1, 0), direction(0, 1), direction(1, 1), direction(-1, 0), direction(0, 1), direction(0, 1)]
        store.memories.keep(made, MODEL, places)
        for exact in (True, False):
            found = store.memories.nearest(HERE, MODEL, direction(0, 1), 5, exact=exact)
            equals = sorted((made[1], made[4], made[5]), key=lambda each: each.id)
            expect([near.memory for near in found], [*equals, made[2], found[4].memory], "by likeness")
            expect({found[4].memory.source} <= {"0", "3"}, True, "then those at right angles")
            for near, wanted in zip(found, (1, 1, 1, math.sqrt(0.5), 0), strict=True):
                expect(abs(near.likeness - wanted) < 1e-6, True, f"a cosine of {near.likeness}, not {wanted}")
        expect(store.memories.nearest(HERE, MODEL, direction(0, 1), 0), [], "none asked for")
        expect(store.memories.nearest(HERE, "another model", direction(0, 1), 5), [], "by a model nobody used")


@_check
def only_what_is_wanted_is_found(opened: Opened) -> None:
    with closing(opened()) as store:
        kept(store, ["fact"], kind=Kind.SEMANTIC, topic="fact", subjects=("x",))
        kept(store, ["of runner"], agent="runner", subjects=("x",))
        kept(store, ["old"], at=AT - timedelta(days=9), subjects=("x",))
        kept(store, ["note"], topic="note", subjects=("x",))
        kept(store, ["elsewhere"], project="other", subjects=("x",))
        cases: list[tuple[dict[str, Any], set[str]]] = [
            ({}, {"fact", "of runner", "old", "note"}),
            ({"kinds": (Kind.SEMANTIC,)}, {"fact"}),
            ({"kinds": (Kind.SEMANTIC, Kind.EPISODIC)}, {"fact", "of runner", "old", "note"}),
            ({"topics": ("fact", "note")}, {"fact", "note"}),
            ({"agent": "runner"}, {"of runner"}),
            ({"since": AT}, {"fact", "of runner", "note"}),
            ({"since": AT, "kinds": (Kind.EPISODIC,)}, {"of runner", "note"}),
            ({"kinds": (Kind.PROCEDURAL,)}, set()),
            ({"project": "nowhere"}, set()),
        ]
        for changes, expected in cases:
            wanted = HERE.model_copy(update=changes)
            expect(set(sources(store.memories.newest(wanted, 9))), expected, f"newest {changes}")
            expect(store.memories.count(wanted), len(expected), f"count {changes}")
            expect(set(sources(store.memories.sharing(wanted, ["x"], 9))), expected, f"sharing {changes}")
            for exact in (True, False):
                near = store.memories.nearest(wanted, MODEL, somewhere(3), 9, exact=exact)
                expect(set(sources(near)), expected, f"nearest {changes}")


@_check
def the_newest_come_in_pages(opened: Opened) -> None:
    with closing(opened()) as store:
        made = [memory(f"{n}", at=AT + timedelta(microseconds=n // 2)) for n in range(7)]
        store.memories.keep(made, MODEL, [somewhere(n) for n in range(7)])
        expected = sorted(made, key=lambda each: (-each.at.timestamp(), each.id))
        pages = [store.memories.newest(HERE, 3, offset) for offset in (0, 3, 6, 9)]
        expect([each for page in pages for each in page], expected, "newest first, then by id")
        prefix = made[0].id[:2]
        alike = sorted(each.id for each in made if each.id.startswith(prefix))
        expect([each.id for each in store.memories.find("shop", prefix)], alike, "whose id begins so")
        expect(len(store.memories.find("shop", "", 4)), 4, "at most so many")
        for nobody in ("x", "%", "\0", made[0].id.upper() + "A"):
            expect(store.memories.find("shop", nobody), [], f"nobody's id begins with {nobody!r}")
        expect(store.memories.find("other", prefix), [], "of another project")


@_check
def what_few_share_counts_more(opened: Opened) -> None:
    with closing(opened()) as store:
        kept(store, [f"common {n}" for n in range(20)], subjects=("file:a.py", "suite:x"))
        kept(store, ["rare"], subjects=("test:rare",))
        kept(store, ["both"], subjects=("test:rare", "file:a.py"))
        found = store.memories.sharing(HERE, ["test:rare", "file:a.py", "nobody's"], 30)
        expect(sources(found)[:2], ["both", "rare"], "the rare one says more")
        expect(len(found), 22, "all that share any")
        shares = [near.likeness for near in found]
        expect(shares == sorted(shares, reverse=True) and 0 < shares[-1] < shares[0] < 1, True, f"shares {shares}")
        (whole,) = store.memories.sharing(HERE, ["test:rare"], 1)
        expect_close(whole.likeness, 1.0, "all that was asked for")
        expect(store.memories.sharing(HERE, [], 9), [], "nothing asked for")


@_check
def uses_are_counted_and_pins_stay(opened: Opened) -> None:
    with closing(opened()) as store:
        one, two = kept(store, ["one", "two"])
        store.memories.note_use([one.id, one.id, "no id \0"], AT)
        store.memories.note_use([one.id], AT - timedelta(days=1))
        (found,) = store.memories.get([one.id])
        expect((found.used, found.last_used), (2, AT), "one use a call; the latest counts")
        pinned = [store.memories.pin(two.id, True), store.memories.pin("0" * 64, True), store.memories.pin("\0", True)]
        expect(pinned, [True, False, False], "pinned what is there")
        outlines = {each.id: each for each in store.memories.outlines("shop")}
        expect(outlines[one.id], Outline(one.id, one.kind, 0.5, 2, AT, AT, False), "one's outline")
        expect(outlines[two.id], Outline(two.id, two.kind, 0.5, 0, None, AT, True), "two's outline")
        expect(len(outlines), 2, "outlines")


@_check
def what_is_forgotten_is_gone_and_audited_by_id(opened: Opened) -> None:
    with closing(opened()) as store:
        gone, stays = kept(store, ["gone", "stays"], text="confidential", subjects=("s",))
        store.memories.pin(gone.id, True)
        expect(store.memories.forget([gone.id, "0" * 64, "\0"], "asked to"), 1, "there was one")
        expect(store.memories.forget([gone.id], "again"), 0, "once")
        expect(store.memories.get([gone.id, stays.id]), [stays], "rows")
        for found in (
            store.memories.nearest(HERE, MODEL, somewhere(0), 9),
            store.memories.sharing(HERE, ["s"], 9),
            store.memories.newest(HERE, 9),
        ):
            expect(sources(found), ["stays"], "found")
        entries = [entry for entry in store.audit.entries() if gone.id in str(entry)]
        expect(len(entries), 1, "audited once")
        expect("confidential" in str(store.audit.entries()), False, "by id alone")
        expect(store.audit.verify().problem, None, "the trail")
        expect(store.memories.keep([gone], MODEL, [somewhere(0)]), 1, "it may come again")


@_check
def another_model_takes_over_step_by_step(opened: Opened) -> None:
    with closing(opened()) as store:
        made = kept(store, ["a", "b", "c"])
        expect(store.memories.without("shop", MODEL, 9), [], "all have places")
        left = store.memories.without("shop", "new", 2)
        expect(len(left), 2, "at most so many")
        ids = [each.id for each in left]
        store.memories.place([*ids, "0" * 64], "new", [direction(1, 2, 3)] * 3)
        expect(store.memories.models("shop"), {MODEL: 3, "new": 2}, "places of each")
        expect(len(store.memories.nearest(HERE, "new", direction(1, 2, 3), 9)), 2, "found by the new one")
        expect(len(store.memories.nearest(HERE, MODEL, somewhere(1), 9)), 3, "and by the old one")
        changed = made[0].model_copy(update={"text": "Otherwise."})
        store.memories.keep([changed], "new", [direction(3, 2, 1)])
        expect(sources(store.memories.without("shop", MODEL, 9)), ["a"], "the old place was of another text")
        store.memories.drop_model("shop", MODEL)
        store.memories.drop_model("shop", "never used")
        expect(set(store.memories.models("shop")), {"new"}, "dropped")
        expect(store.memories.nearest(HERE, MODEL, somewhere(1), 9), [], "nothing is found by it")
        expect(store.memories.count(HERE), 3, "memories stay")


@_check
def marks_only_go_forward(opened: Opened) -> None:
    with closing(opened()) as store:
        expect(store.memories.mark("shop", "experiences"), 0, "at first")
        for position in (5, 3, 2**63 - 1, 7):
            store.memories.set_mark("shop", "experiences", position)
        expect(store.memories.mark("shop", "experiences"), 2**63 - 1, "the furthest")
        expect((store.memories.mark("shop", "x"), store.memories.mark("other", "experiences")), (0, 0), "others")
        for refused in (-1, 2**63):
            expect_error(RefusedInput, store.memories.set_mark, "shop", "experiences", refused)


@_check
def bad_input_is_refused_and_changes_nothing(opened: Opened) -> None:
    good, nan, infinite = somewhere(1), math.nan, math.inf
    with closing(opened()) as store:
        kept(store, ["there"])
        for bad in (
            b"",
            good[:-1],
            good[:-4],
            good + good,
            struct.pack("<8f", nan, *[0.0] * 7),
            struct.pack("<8f", infinite, *[0.0] * 7),
            struct.pack("<8f", 3e38, *[0.0] * 7),
            struct.pack("<8f", *[0.0] * 8),
            struct.pack("<8f", 0.5, *[0.0] * 7),
        ):
            expect_error(RefusedInput, store.memories.keep, [memory("a"), memory("b")], MODEL, [good, bad])
            expect_error(RefusedInput, store.memories.place, [memory("there").id], MODEL, [bad])
            expect_error(RefusedInput, store.memories.nearest, HERE, MODEL, bad, 3)
        other = memory("c", project="other")
        expect_error(RefusedInput, store.memories.keep, [other], MODEL, [direction(1, 2)])
        expect_error(RefusedInput, store.memories.keep, [memory("a")], MODEL, [])
        expect_error(RefusedInput, store.memories.keep, [memory("a", support=2**63)], MODEL, [good])
        expect_error(
            RefusedInput, store.memories.keep, [memory("a").model_copy(update={"importance": nan})], MODEL, [good]
        )
        expect_error(RefusedInput, store.memories.keep, [memory("a")], "m" * 300, [good])
        expect(store.memories.keep([], MODEL, []), 0, "nothing given")
        expect((store.memories.projects(), store.memories.count(HERE)), (["shop"], 1), "what was there before")


@_check
def several_at_once_lose_nothing(opened: Opened) -> None:
    """Six openings, as six processes have, that keep some of the same ones."""
    with ThreadPoolExecutor(6) as pool:

        def work(start: int) -> int:
            with closing(opened()) as store:
                made = [memory(f"{start + number}", subjects=("s",)) for number in range(20)]
                return sum(store.memories.keep([each], MODEL, [somewhere(1)]) for each in made)

        new = sum(pool.map(work, range(0, 60, 10)))
    with closing(opened()) as store:
        expect((new, store.memories.count(HERE)), (70, 70), "each is new once")
        expect(store.memories.models("shop"), {MODEL: 70}, "one place each")
        expect(len(store.memories.nearest(HERE, MODEL, somewhere(1), 99)), 70, "all are found")
        expect(len(store.memories.sharing(HERE, ["s"], 99)), 70, "all are described")


@_check
def what_another_process_did_is_seen(opened: Opened) -> None:
    with closing(opened()) as one, closing(opened()) as two:
        first, second = kept(one, ["first", "second"])
        expect(len(one.memories.nearest(HERE, MODEL, somewhere(0), 9)), 2, "before")
        two.memories.keep([memory("third")], MODEL, [somewhere(0)])
        two.memories.forget([first.id], "asked to")
        two.memories.keep([second.model_copy(update={"text": "Moved."})], MODEL, [somewhere(3)])
        found = one.memories.nearest(HERE, MODEL, somewhere(3), 9)
        expect(sources(found), ["second", "third"], "what is there now")
        expect_close(found[0].likeness, 1.0, "where it is now")
