"""Who decides for a unit never flips, grows with the share alone, and is nobody else's business."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.improvement.rollout.rollout_scenes import candidate

from whet.improvement.rollout.assignment import assigned, policy_name, salt, spot

UNITS = [f"{number:032x}" for number in range(100_000)]
_texts = st.text(st.characters(), max_size=60)
_numbers = st.integers(0, 10**9)


def test_of_100_000_units_none_flips_and_every_share_is_met() -> None:
    by_share = {share: candidate(share=share) for share in (0.0, 0.1, 0.5, 1.0)}
    chosen = {share: {unit for unit in UNITS if assigned(each, unit)} for share, each in by_share.items()}
    assert chosen[0.0] == set() < chosen[0.1] < chosen[0.5] < chosen[1.0] == set(UNITS)
    assert abs(len(chosen[0.1]) / len(UNITS) - 0.1) < 0.005
    assert abs(len(chosen[0.5]) / len(UNITS) - 0.5) < 0.005
    again = candidate(share=0.1, since=by_share[0.1].since.replace(year=2030), evidence={"any": 1}, paused=True)
    assert {unit for unit in UNITS if assigned(again, unit)} == chosen[0.1]


def test_candidates_and_agents_are_independent_of_each_other() -> None:
    """Of those whom one has, every other has its own share: 10 % of 10,000 ± 5 standard deviations."""
    first = candidate(number=1, share=0.1)
    had = [unit for unit in UNITS if assigned(first, unit)]
    others = [
        candidate(number=2, share=0.1),
        candidate(number=1, share=0.1, agent="coverage-analyzer"),
        candidate(number=1, share=0.1, artefact="cd" * 32),
    ]
    expected = 0.1 * len(had)
    for other in others:
        both = sum(assigned(other, unit) for unit in had)
        assert abs(both - expected) < 5 * math.sqrt(0.9 * expected), other.number


def test_spots_are_uniform() -> None:
    """χ² of 20 bins with 19 degrees of freedom; 43.8 is exceeded once in a thousand."""
    counts = [0] * 20
    for unit in UNITS:
        counts[int(spot(b"salt", unit) * 20)] += 1
    assert sum((count - 5000) ** 2 / 5000 for count in counts) < 43.8


def test_a_spot_is_what_it_always_was() -> None:
    """In another process and another year: runs under way would change sides."""
    assert salt(candidate()).hex()[:16] == "bfbeb9a65806c6c2"
    assert spot(salt(candidate()), "run-1") == 0.22222837902418602


@given(_texts, _numbers, st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=100)
def test_a_larger_share_only_adds(unit: str, number: int, one: float, other: float) -> None:
    small, large = sorted((one, other))
    assert 0.0 <= spot(salt(candidate(number)), unit) < 1.0
    assert assigned(candidate(number, share=large), unit) or not assigned(candidate(number, share=small), unit)
    assert assigned(candidate(number, share=1.0), unit)
    assert not assigned(candidate(number, share=0.0), unit)


def test_decisions_name_the_candidate() -> None:
    assert policy_name(12) == "candidate-12"
