"""Drift: the tests behind it against independent numbers, alarms where something changed, none where nothing did."""

import math
import random

import numpy as np
import pytest
from benchmarks.drift_streams import BEGIN, CHANGED, RESEMBLING, STABLE, experience, resembling
from hypothesis import given
from hypothesis import strategies as st

from whet.agents.catalogue import AGENTS
from whet.core.errors import RefusedInput
from whet.core.records import Experience
from whet.improvement.adwin import Adwin
from whet.improvement.drift import DriftWatch
from whet.improvement.drift_record import Drift
from whet.improvement.features import features
from whet.improvement.lasting import names_last, numbers_last
from whet.improvement.reopening import CLOSED, Reopened, Reopening
from whet.improvement.two_samples import chi_square_p, holm, kolmogorov_p, names_differ, numbers_differ
from whet.policies.beliefs import Beliefs
from whet.policies.exploration import Exponential
from whet.policies.tabular import EpsilonGreedy, Thompson


def found(stream: list[Experience]) -> list[tuple[int, Drift]]:
    watch = DriftWatch(AGENTS)
    return [(run, drift) for run, each in enumerate(stream) for drift in watch.observe(each)]


# What river 0.26.0's ADWIN (delta 0.002, looking every 32) says of these streams; the same with 1 and with 8.
RIVER = [[], [1055], [1599], [415, 831, 1311, 1791, 2239, 2783], [735, 1439], [], [1055], [1631]]


def _stream(seed: int) -> list[float]:
    rng = random.Random(seed)
    match seed % 5:
        case 0:
            return [rng.gauss(0, 1) for _ in range(3000)]
        case 1:
            return [rng.gauss(0, 1) for _ in range(1000)] + [rng.gauss(1, 1) for _ in range(2000)]
        case 2:
            low = [float(rng.random() < 0.2) for _ in range(1500)]
            return low + [float(rng.random() < 0.5) for _ in range(1500)]
        case 3:
            return [rng.gauss(i / 1000, 0.5) for i in range(3000)]
    steps = [rng.gauss(10, 5) for _ in range(700)] + [rng.gauss(4, 5) for _ in range(700)]
    return steps + [rng.gauss(12, 1) for _ in range(1600)]


@pytest.mark.parametrize("seed", range(len(RIVER)))
def test_adwin_alarms_where_rivers_does(seed: int) -> None:
    alarms, window = [], Adwin()
    for place, value in enumerate(_stream(seed)):
        if window.update(value) is not None:
            alarms.append(place)
            window = Adwin()
    assert alarms == RIVER[seed]


def test_adwin_tells_both_sides_of_the_cut() -> None:
    window = Adwin(every=1)
    cut = next(cut for value in [0.0] * 100 + [5.0] * 100 if (cut := window.update(value)) is not None)
    assert cut.before == 0.0
    assert cut.count_before + cut.count_after < 110
    assert cut.after == pytest.approx(5.0 * (cut.count_before + cut.count_after - 100) / cut.count_after)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_adwin_refuses_what_is_no_number(value: float) -> None:
    with pytest.raises(RefusedInput, match="Drift cannot be looked for"):
        Adwin().update(value)


@pytest.mark.parametrize(
    ("squares", "degrees", "expected"),
    [  # scipy 1.17.1: stats.chi2.sf
        (3.841, 1, 0.050013683763956804),
        (5.991, 2, 0.05001161502657909),
        (12.3, 5, 0.03090046463546092),
        (30.0, 4, 4.894437128029217e-06),
        (0.5, 3, 0.9188914116546758),
        (0.0, 2, 1.0),
        (0.0, 1, 1.0),
        (200.0, 7, 1.147781224014262e-39),
    ],
)
def test_chi_square_matches_scipy(squares: float, degrees: int, expected: float) -> None:
    assert chi_square_p(squares, degrees) == pytest.approx(expected, rel=1e-9)


def _apart(seed: int, shift: float) -> tuple[list[float], list[float]]:
    rng = random.Random(seed)
    before = [round(rng.gauss(0, 1), 2) for _ in range(100)]
    return before, [round(rng.gauss(shift, 1), 2) for _ in range(50)]


def test_kolmogorov_smirnov_matches_scipy() -> None:
    """scipy 1.17.1: ks_2samp(method="exact") gives 0.3 and 0.0044, 0.35 and 0.00047; wasserstein_distance the sizes."""
    assert kolmogorov_p(0.3, 100, 50) == pytest.approx(0.0044045, rel=0.25)
    assert kolmogorov_p(0.35, 100, 50) == pytest.approx(0.00046613, rel=0.25)
    assert numbers_differ(*_apart(3, 0.6)).size == pytest.approx(0.5941)
    assert numbers_differ(*_apart(4, 0.2)).size == pytest.approx(0.5972)
    assert numbers_differ(*_apart(3, 0.6)).p == pytest.approx(0.0044045, rel=0.2)


def test_names_match_scipy_on_a_table_of_three() -> None:
    """scipy 1.17.1: chi2_contingency([[60, 30, 10], [15, 20, 15]]) gives 15.0 and p = 0.000553."""
    rng = random.Random(1)
    before, after = list("a" * 60 + "b" * 30 + "c" * 10), list("a" * 15 + "b" * 20 + "c" * 15)
    rng.shuffle(before)
    rng.shuffle(after)
    difference = names_differ(before, after)
    assert difference.size == pytest.approx(0.3)
    assert difference.p == pytest.approx(0.000553, rel=1e-3)
    # In one block each, neighbours say the same again and again: nothing is left to be sure of.
    assert names_differ(before, after, names_last(sorted(before))).p > 0.1


@pytest.mark.parametrize(("correlation", "least", "most"), [(0.0, 1.0, 1.6), (0.5, 2.0, 4.5), (0.9, 10.0, 35.0)])
def test_values_last_as_long_as_neighbours_resemble_each_other(correlation: float, least: float, most: float) -> None:
    """(1 + ρ) / (1 − ρ) in theory: 1, 3, 19. A flag that such a number switches lasts nearly as long."""
    values = resembling(np.random.default_rng(2), 2000, correlation)
    assert least <= numbers_last(list(values)) <= most
    assert least / 2 <= names_last([str(value > 0.5) for value in values]) <= most


def test_what_never_varied_lasts_no_longer_than_one_run() -> None:
    assert numbers_last([3.0] * 50) == names_last(["a"] * 50) == 1.0


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


numbers = st.lists(st.none() | st.floats(-10, 10), min_size=2, max_size=30)


@given(numbers, numbers)
def test_any_two_samples_have_a_chance_and_a_size(before: list[float | None], after: list[float | None]) -> None:
    for difference in (
        numbers_differ(before, after),
        names_differ([str(each) for each in before], [str(each) for each in after]),
    ):
        assert 0.0 <= difference.p <= 1.0
        assert 0.0 <= difference.size < math.inf
    assert numbers_differ(before, before).size == 0.0


@pytest.mark.parametrize("name", ["rewards: normal, sd 5, -10", "rewards: normal, sd 5, +10"])
def test_rewards_that_change_are_seen_and_told(name: str) -> None:
    (run, drift), *later = found(list(CHANGED[name](np.random.default_rng(1), BEGIN + 200)))
    assert later == []
    assert BEGIN < run < BEGIN + 60
    assert (drift.agent, drift.kind, drift.run_id) == ("test-executor", "rewards", str(run - 1))
    word, change = ("fell", -10) if name.endswith("-10") else ("rose", 10)
    assert drift.sentence.startswith(f"Rewards of test-executor {word} by about ")
    assert drift.size == pytest.approx(change, abs=6)


@pytest.mark.parametrize(
    ("name", "what", "change"),
    [
        ("states: three times the tests", "num_tests", "num_tests goes from typically 100 to 2"),
        ("states: everything complex", "test_complexity", "test_complexity goes from typically simple to complex"),
        ("states: in CI", "ci_environment", "ci_environment goes from typically false to true"),
    ],
)
def test_states_that_change_are_seen_and_told(name: str, what: str, change: str) -> None:
    alarms = found(list(CHANGED[name](np.random.default_rng(1), BEGIN + 100)))
    assert [(drift.kind, drift.what) for _, drift in alarms] == [("states", what)]
    assert BEGIN < alarms[0][0] < BEGIN + 60
    assert change in alarms[0][1].sentence


@pytest.mark.parametrize("name", list(STABLE))
def test_stable_streams_are_left_alone(name: str) -> None:
    assert found(list(STABLE[name](np.random.default_rng(7), 600))) == []


# Streams in which a test that takes neighbours for independent, or looks at next ones alone, sees another world.
SEEMINGLY_OTHER = {"rewards: 0.3": 1, "rewards: 0.5": 4, "states: 0.5": 1, "states: 0.9": 15}


@pytest.mark.parametrize("name", list(RESEMBLING))
def test_neighbours_that_resemble_each_other_are_no_drift(name: str) -> None:
    assert found(list(RESEMBLING[name](np.random.default_rng(SEEMINGLY_OTHER[name]), 1000))) == []


def test_learning_to_choose_better_is_no_drift() -> None:
    """Rewards rise from 0 to 10 because another action is taken; each action earns what it always did."""
    rng = np.random.default_rng(3)
    taken = ["run_fast_first" if rng.random() < run / 600 else "run_all_tests" for run in range(600)]
    stream = [
        experience(run, float(rng.normal(10.0 if action == "run_fast_first" else 0.0, 3.0)), action=action)
        for run, action in enumerate(taken)
    ]
    assert found(stream) == []


def test_a_test_more_is_no_other_world_and_ten_times_as_many_are() -> None:
    for count, expected in ((79, []), (780, ["num_tests"])):
        stream = [experience(run, 0.0, {"num_tests": 78 if run < 150 else count}) for run in range(300)]
        assert [drift.what for _, drift in found(stream)] == expected


def test_one_run_counts_once_however_many_turns_it_has() -> None:
    rng = np.random.default_rng(5)
    once = [experience(run, float(rng.normal(0, 5))) for run in range(200)]
    often = [each.model_copy(update={"key": f"{each.key}-{n}"}) for each in once for n in range(10)]
    assert found(often) == []


def test_features_of_every_agent_can_be_read() -> None:
    for agent in AGENTS.values():
        assert len(features(agent.state_type)) > 5


def test_exploration_is_reopened_and_closes_again() -> None:
    stream = list(CHANGED["rewards: normal, sd 5, -10"](np.random.default_rng(1), BEGIN + 300))
    watch, spreads = DriftWatch(AGENTS), []
    for each in stream:
        watch.observe(each)
        spreads.append(watch.reopening("test-executor").spread)
    opened = next(run for run, spread in enumerate(spreads) if spread)
    assert spreads[opened] >= 5.0
    assert spreads[opened + 25] == pytest.approx(spreads[opened] / 2)
    assert spreads[-1] == 0.0
    assert watch.reopening("flaky-test-hunter") == CLOSED


def test_reopened_explorations_try_what_they_had_given_up() -> None:
    beliefs = Beliefs(np.array([10.0, 0.0]), np.array([0.5, 0.5]))
    wide = Reopening(10.0, 0.2)
    for exploration in (Thompson(), EpsilonGreedy(Exponential())):
        plain, open_again = exploration.probabilities(beliefs), Reopened(exploration, wide).probabilities(beliefs)
        assert open_again[1] > plain[1] + 0.08
        assert open_again.sum() == pytest.approx(1.0)
        assert Reopened(exploration, wide).name == exploration.name
        np.testing.assert_allclose(Reopened(exploration, CLOSED).probabilities(beliefs), plain)


def test_a_wider_belief_alone_makes_thompson_try_again() -> None:
    """Two normals ten apart, each with √(0.5² + 10²): the worse is drawn higher in 24 % of all draws."""
    beliefs = Beliefs(np.array([10.0, 0.0]), np.array([0.5, 0.5]))
    assert Thompson().probabilities(beliefs)[1] < 1e-6
    assert Reopened(Thompson(), Reopening(10.0, 0.0)).probabilities(beliefs)[1] == pytest.approx(0.240, abs=0.005)


@pytest.mark.parametrize(("spread", "epsilon"), [(-1.0, 0.0), (math.nan, 0.0), (math.inf, 0.0), (0.0, 1.1)])
def test_unusable_reopenings_are_refused(spread: float, epsilon: float) -> None:
    with pytest.raises(RefusedInput, match="Exploration cannot be reopened"):
        Reopening(spread, epsilon)
