"""Canaries with a planted regression, and whether the watch takes them back within three looks."""

from datetime import UTC, datetime, timedelta

import numpy as np

from whet.core.candidates import Candidate, Lineage, Stage
from whet.core.learning_log import UnitResult
from whet.improvement.rollout.arms import Arms
from whet.improvement.rollout.assignment import policy_name
from whet.improvement.rollout.plan import Plan
from whet.improvement.rollout.watching import Verdict, watch

LOOKS, UNITS_EACH_LOOK, OTHERS_EACH = 3, 100, 9  # a share of 10 %
_SINCE = datetime(2026, 1, 1, tzinfo=UTC)
# Reward and success as they should be, and what is planted: one regression beyond each limit.
_USUAL = (100.0, 0.95)
PLANTED = {"reward −15": (85.0, 0.95), "92 % of the reward": (92.0, 0.95), "success −0.10": (100.0, 0.85)}
_SPREAD = 15.0


def rolled_back(planted: tuple[float, float], simulations: int, seed: int) -> float:
    """The share that is taken back at one of the looks; of canaries without fault, the share of false alarms."""
    rng = np.random.default_rng([seed, *(int(1000 * each) for each in planted)])
    return float(np.mean([_taken_back(planted, rng) for _ in range(simulations)]))


def without_fault(simulations: int, seed: int) -> float:
    return rolled_back(_USUAL, simulations, seed)


def _taken_back(planted: tuple[float, float], rng: np.random.Generator) -> bool:
    canary = _canary()
    own = _results("own", policy_name(canary.number), planted, LOOKS * UNITS_EACH_LOOK, rng)
    others = _results("others", "production", _USUAL, LOOKS * UNITS_EACH_LOOK * OTHERS_EACH, rng)
    for look in range(1, LOOKS + 1):
        seen = Arms(own[: look * UNITS_EACH_LOOK], others[: look * UNITS_EACH_LOOK * OTHERS_EACH])
        if watch(canary, seen, Plan(), _SINCE + timedelta(hours=look)).verdict is Verdict.ROLL_BACK:
            return True
    return False


def _results(
    unit: str, policy: str, means: tuple[float, float], count: int, rng: np.random.Generator
) -> list[UnitResult]:
    rewards, successes = rng.normal(means[0], _SPREAD, count), rng.random((count, 2)) < means[1]
    return [
        UnitResult(f"{unit}-{n}", policy, 2, float(rewards[n]), float(successes[n].mean()), _SINCE)
        for n in range(count)
    ]


def _canary() -> Candidate:
    lineage = Lineage(batch=1, experiences=1000, first="a", last="z", parent=None, code_version="0", seed=0)
    return Candidate(
        number=1,
        key="batch:1",
        agent="test-executor",
        kind="tables",
        artefact="0" * 64,
        lineage=lineage,
        stage=Stage.CANARY,
        share=0.1,
        since=_SINCE,
        made_at=_SINCE,
    )
