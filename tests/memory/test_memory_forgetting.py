"""Forgetting keeps the bound, takes what is worth least, and never takes what is pinned."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from whet.core.memories import Kind, Outline
from whet.memory.forgetting import HALF_LIFE_DAYS, Bound, leaving, older_than, worth

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def outline(
    named: str, *, importance: float = 0.5, days: float = 0.0, used: int = 0, used_days: float | None = None,
    kind: Kind = Kind.EPISODIC, pinned: bool = False,
) -> Outline:  # fmt: skip
    last = None if used_days is None else NOW - timedelta(days=used_days)
    return Outline(named, kind, importance, used, last, NOW - timedelta(days=days), pinned)


_OUTLINES = st.lists(
    st.builds(
        outline,
        named=st.text("abcdef", min_size=4, max_size=8),
        importance=st.floats(0, 1),
        days=st.floats(-10, 1000),
        used=st.integers(0, 1000),
        used_days=st.none() | st.floats(-10, 1000),
        kind=st.sampled_from(Kind),
        pinned=st.booleans(),
    ),
    max_size=60,
    unique_by=lambda each: each.id,
)
_BOUNDS = st.builds(Bound, keep=st.integers(0, 60), keep_days=st.floats(1, 1000))


def test_half_of_the_worth_is_gone_after_the_half_life() -> None:
    assert worth(outline("a", importance=0.8), NOW) == 0.8
    assert worth(outline("a", importance=0.8, days=HALF_LIFE_DAYS), NOW) == 0.4
    # Used once: fades half as fast, and from its last use on.
    assert worth(outline("a", importance=0.8, days=500, used=1, used_days=2 * HALF_LIFE_DAYS), NOW) == 0.4


def test_what_is_worth_least_goes_first() -> None:
    outlines = [outline("dull", importance=0.1), outline("old", days=300), outline("used", days=300, used=7),
                outline("new")]  # fmt: skip
    assert leaving(outlines, NOW, Bound(4, 1000)).crowded_out == []
    assert leaving(outlines, NOW, Bound(3, 1000)).crowded_out == ["old", "dull"]  # down to 95 % of the bound
    assert leaving(outlines, NOW, Bound(2, 1000)).crowded_out == ["old", "dull", "used"]


def test_facts_leave_by_age_alone_and_count_towards_the_bound() -> None:
    outlines = [outline("fact", kind=Kind.SEMANTIC, importance=0.0), outline("how", kind=Kind.PROCEDURAL, days=400),
                outline("lived")]  # fmt: skip
    assert leaving(outlines, NOW, Bound(1, 365)) == (["how"], ["lived"])


def test_use_keeps_from_being_outdated() -> None:
    outlines = [outline("used", days=900, used=1, used_days=3), outline("not", days=900)]
    assert leaving(outlines, NOW, Bound(10, 365)) == (["not"], [])


@given(_OUTLINES, _BOUNDS)
def test_nothing_pinned_ever_leaves_and_the_bound_is_kept(outlines: list[Outline], bound: Bound) -> None:
    gone = leaving(outlines, NOW, bound)
    left = {*gone.outdated, *gone.crowded_out}
    assert len(left) == len(gone.outdated) + len(gone.crowded_out)
    staying = [each for each in outlines if each.id not in left]
    assert all(each.pinned is False for each in outlines if each.id in left)
    fixed = sum(each.pinned or each.kind is not Kind.EPISODIC for each in staying)
    assert len(staying) <= max(bound.keep, fixed)
    assert leaving(staying, NOW, bound) == ([], [])


@given(_OUTLINES, _BOUNDS, st.randoms(use_true_random=False))
def test_the_order_does_not_matter(outlines: list[Outline], bound: Bound, shuffle: object) -> None:
    before = leaving(outlines, NOW, bound)
    shuffle.shuffle(outlines)  # type: ignore[attr-defined]
    after = leaving(outlines, NOW, bound)
    assert (after.outdated, set(after.crowded_out)) == (before.outdated, set(before.crowded_out))


@given(_OUTLINES, st.integers(0, 1000))
def test_a_larger_bound_keeps_what_a_smaller_one_kept(outlines: list[Outline], days: int) -> None:
    small, large = (set(leaving(outlines, NOW, Bound(keep, days + 1)).crowded_out) for keep in (10, 20))
    assert large <= small
    assert all(not each.pinned for each in outlines if each.id in older_than(outlines, NOW, days))
