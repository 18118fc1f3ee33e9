"""What a credited reward can be, worked out by hand."""

import pytest
from tests.improvement.proving.proving_scenes import Told, evenly, lived

from whet.core.records import Experience, Part, Reward
from whet.improvement.proving.ranges import plausible_range, reward_range
from whet.rewards import profile

COMPOSITE = profile("composite")


def earned(*parts: Part) -> Experience:
    reward = Reward(profile="composite", parts=parts, raw=0.0, shaped=0.0, credited=0.0)
    return lived(Told(evenly), 1)[0].model_copy(update={"reward": reward})


def test_the_parts_that_were_measured_the_teams_share_and_luck() -> None:
    """time_savings is within ±3 and failed_scheduling within −50 … 0; all parts together within −616 … 512."""
    log = [
        earned(Part(name="time_savings", points=1.0), Part(name="flaky_f1", points=None)),
        earned(Part(name="failed_scheduling", points=-5.0)),
    ]
    found = reward_range(log, COMPOSITE, {}, team_share=0.2)
    assert found is not None
    assert found.low == pytest.approx(0.8 * -53.0 + 0.2 * -616.0 - 3.0)
    assert found.high == pytest.approx(0.8 * 3.0 + 0.2 * 512.0)


def test_weights_count() -> None:
    log = [earned(Part(name="time_savings", points=1.0))]
    narrow, wide = (reward_range(log, COMPOSITE, {"time_savings": each}, team_share=0.0) for each in (1.0, 2.0))
    assert narrow == (-6.0, 3.0)
    assert wide == (-12.0, 6.0)


def test_where_nothing_was_measured_nothing_is_known() -> None:
    assert reward_range([], COMPOSITE, {}) is None
    assert reward_range([earned(Part(name="time_savings", points=None))], COMPOSITE, {}) is None


def credited(points: float) -> Experience:
    found = earned(Part(name="time_savings", points=1.0))
    return found.with_reward(found.reward.model_copy(update={"credited": points}))


def test_plausible_is_what_was_seen_and_as_far_again() -> None:
    log = [credited(points) for points in (-2.0, 4.0)]
    assert plausible_range(log, COMPOSITE, {}) == (-8.0, 10.0)
    far = [credited(points) for points in (-60.0, 90.0)]
    assert plausible_range(far, COMPOSITE, {}, team_share=0.0) == (-6.0, 3.0)
    assert plausible_range([], COMPOSITE, {}) is None
