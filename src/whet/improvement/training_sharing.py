"""Agents of a category that are trained side by side learn from each other (`whet train --agent all --share`).

Their states and actions differ; what they have in common is the situation, and the kind of an action. So a step is lent
as these two, with its reward in deviations from what is usual for the lender. It comes to the borrower as one of its
own states in that situation and one of its own actions of that kind, as often as `Shared` and `Trust` let it.

As environments do, what was lent begins anew with each chapter: killed training goes on to the same weights.
"""

from collections.abc import Sequence

import numpy as np

from whet.improvement.training_common import CommonGround
from whet.improvement.training_under_way import UnderWay
from whet.policies.deep.dqn import DQN
from whet.policies.deep.learning import Floats, Steps
from whet.policies.deep.sharing import Shared, Trust

_LENT = 512  # the last steps of each agent
# Skill is estimated from some fifty steps, so that √(2/50) of it comes by chance.
_LEAST_TRUST = 0.2


class Exchange:
    """Of one chapter."""

    def __init__(self, trainings: Sequence[UnderWay]) -> None:
        self._members = [member for each in trainings if (member := _member(each)) is not None]
        first = trainings[0]
        self._random = np.random.default_rng([first.order.seed, first.learner.steps])
        self._shared = Shared(_LENT, int(self._random.integers(2**32)))
        self._trust = {member.name: Trust() for member in self._members}

    def __call__(self, everyone: Sequence[Steps]) -> list[int]:
        """Before anybody learns from these steps; how many each was lent."""
        told = [
            member.ground.lent(steps, member.learner) for member, steps in zip(self._members, everyone, strict=True)
        ]
        borrowed = [self._borrow(member, own) for member, own in zip(self._members, told, strict=True)]
        for member, own in zip(self._members, told, strict=True):
            self._shared.lend(member.name, own)
        return borrowed

    def _borrow(self, member: "_Member", own: Steps) -> int:
        trust, ground, learner = self._trust[member.name], member.ground, member.learner
        lenders = [each for each in self._members if each is not member and each.ground.category == ground.category]
        if not len(own.actions):
            return 0
        foretold = {each.name: _known(each.ground.expected(own, each.learner), trust) for each in lenders}
        trust.observe(own.rewards, _known(ground.expected(own, learner), trust), foretold)
        believed = {name: share for name, share in trust.of(tuple(foretold)).items() if share >= _LEAST_TRUST}
        found = self._shared.borrow(member.name, len(own.actions), ground.policy(learner), believed)
        if found is None:
            return 0
        learner.remember(ground.taken(found.steps, self._random))
        return len(found.steps.actions)


class _Member:
    def __init__(self, name: str, learner: DQN, ground: CommonGround) -> None:
        self.name, self.learner, self.ground = name, learner, ground


def _member(training: UnderWay) -> _Member | None:
    learner, ground = training.learner, training.subject.common
    return _Member(training.order.agent, learner, ground) if isinstance(learner, DQN) and ground is not None else None


def _known(expected: Floats, trust: Trust) -> Floats:
    """Who has nothing to say of a step foretells no more than the mean does."""
    return np.where(np.isnan(expected), np.float32(trust.mean), expected)
