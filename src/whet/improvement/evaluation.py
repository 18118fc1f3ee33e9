"""Does learning pay? Policies side by side on worlds, against random and every static choice."""

from collections.abc import Mapping, Sequence

import numpy as np

from whet.improvement.evaluation_records import Curve, Learned, Static, WorldReport
from whet.improvement.intervals import Matrix, half_width, student_95
from whet.improvement.lives import Course, Life, live, untrained
from whet.improvement.reliability import Whole, chance_error, expected_error, reliability
from whet.improvement.spots import Spot, spots
from whet.improvement.world import World
from whet.rewards.profiles import Profile

__all__ = ["Course", "Matrix", "Spot", "WorldReport", "half_width", "judge", "spots", "student_95"]
WINDOW = 50
# Accuracy "after n decisions" is the share of right ones among the last of them, exploring included.
TAIL = 100


def judge(world: World, profile: Profile, weights: Mapping[str, float], course: Course) -> WorldReport:
    """All policies on one world."""
    there = spots(world, profile, weights)
    statics = tuple(_static(name, there) for name in sorted({a.name for spot in there for a in spot.allowed}))
    return WorldReport(
        world=world.name,
        agent=world.agent,
        used_for_tuning=world.used_for_tuning,
        contexts=len(world.contexts),
        states=len(there),
        learned=tuple(_learned(name, world, there, course) for name in course.policies),
        random=_random(there),
        safe_default=_safe_default(there),
        statics=statics,
        best_static=max(statics, key=lambda s: s.mean_reward),
        best_possible_reward=_possible(there),
    )


def _possible(there: Sequence[Spot]) -> float:
    return float(np.mean([spot.best for spot in there]))


def _static(action: str, there: Sequence[Spot]) -> Static:
    played = [(spot, spot.playable(action)) for spot in there]
    return Static(
        policy=f"always {action}",
        accuracy=float(np.mean([spot.right(name) for spot, name in played])),
        mean_reward=float(np.mean([spot.means[name] for spot, name in played])),
    )


def _safe_default(there: Sequence[Spot]) -> Static:
    """What runs without Whet, and while nothing is known."""
    return Static(
        policy="safe default",
        accuracy=float(np.mean([spot.right(spot.default) for spot in there])),
        mean_reward=float(np.mean([spot.means[spot.default] for spot in there])),
    )


def _random(there: Sequence[Spot]) -> Static:
    return Static(
        policy="random",
        accuracy=float(np.mean([np.mean([spot.right(a.name) for a in spot.allowed]) for spot in there])),
        mean_reward=float(np.mean([np.mean(list(spot.means.values())) for spot in there])),
    )


def _learned(name: str, world: World, there: Sequence[Spot], course: Course) -> Learned:
    lives = [live(name, world, there, course, seed) for seed in range(course.seeds)]
    right = np.stack([life.right for life in lives])
    tails = right[:, -TAIL:].mean(axis=1)
    told = reliability(np.concatenate([life.confidence for life in lives]), right.ravel(), _questions(lives))
    return Learned(
        policy=name,
        accuracy=float(tails.mean()),
        accuracy_half_width=half_width(tails),
        whole_accuracy=float(right.mean()),
        whole_half_width=half_width(right.mean(axis=1)),
        untrained_accuracy=untrained(name, world, there, course),
        # By regret, so that the luck of which states came up does not count.
        mean_reward=_possible(there) - float(np.stack([life.regret[-TAIL:] for life in lives]).mean()),
        regret=float(np.stack([life.regret for life in lives]).sum(axis=1).mean()),
        curve=_curve(right),
        calibration_error=expected_error(told),
        chance_error=chance_error(told),
        reliability=told,
    )


def _questions(lives: Sequence[Life]) -> Whole:
    """One number for each state and action: whoever asks again, in another life too, gets the same answer."""
    asked = np.concatenate([np.stack((life.spot, life.action), axis=1) for life in lives])
    return np.asarray(np.unique(asked, axis=0, return_inverse=True)[1].ravel(), dtype=np.int64)


def _curve(right: Matrix) -> Curve:
    windows = right.shape[1] // WINDOW
    per_seed = right[:, : windows * WINDOW].reshape(right.shape[0], windows, WINDOW).mean(axis=2)
    return Curve(
        decisions=tuple((w + 1) * WINDOW for w in range(windows)),
        accuracy=tuple(float(x) for x in per_seed.mean(axis=0)),
        half_width=tuple(half_width(per_seed[:, w]) for w in range(windows)),
    )
