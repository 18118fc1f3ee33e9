"""One learner in training, with all that goes with it; saved and opened again it goes on to the same result."""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np

from whet.core.errors import WhetError
from whet.improvement.curriculum import Curriculum
from whet.improvement.training_learners import begun_from, network_of
from whet.improvement.training_record import CURRICULUM, Order, TrainingFolder
from whet.improvement.training_subject import Subject
from whet.policies.deep.ewc import Consolidation
from whet.policies.deep.gymnasium_steps import gymnasium_steps
from whet.policies.deep.learning import DeepLearner, Steps

# Rounds of all environments before another world may be practised.
VISIT_ROUNDS = 25
_LEARNER, _KEPT = "learner", "kept"


class Trainee(NamedTuple):
    subject: Subject
    order: Order
    folder: TrainingFolder


class UnderWay:
    def __init__(self, trainee: Trainee, learner: DeepLearner, memory: Consolidation | None) -> None:
        self.subject, self.order, self.folder = trainee
        self.learner, self.memory = learner, memory
        names = tuple(self.subject.courses)
        self.curriculum = Curriculum(names, self.order.seed) if self.order.curriculum else None

    @classmethod
    def begun(cls, trainee: Trainee) -> "UnderWay":
        subject, order, folder = trainee
        learner, memory = subject.new(), None
        if order.keep:
            learner, memory = begun_from(order.policy, folder.learner, learner, order.seed), folder.kept()
        if memory is not None:
            memory.require_fit(network_of(learner))
        training = cls(trainee, learner, memory)
        folder.clear()
        training.save()
        folder.begin(order)
        return training

    @classmethod
    def resumed(cls, trainee: Trainee, steps: int) -> "UnderWay":
        subject, order, folder = trainee
        place = folder.saved(steps)
        memory = Consolidation.open(place / _KEPT) if order.keep else None
        training = cls(trainee, subject.opened(place / _LEARNER), memory)
        if training.curriculum is not None:
            training.curriculum.go_on_from(place / CURRICULUM)
        folder.begin(order)
        folder.keep_rows_until(steps)
        return training

    def save(self) -> None:
        with self.folder.saving(self.learner.steps) as place:
            self.learner.save(place / _LEARNER)
            if self.curriculum is not None:
                self.curriculum.save(place / CURRICULUM)
            if self.memory is not None:
                self.memory.save(place / _KEPT)

    def finish(self) -> None:
        """What was learned is put to use, and with it what must not be forgotten when training goes on elsewhere."""
        self.learner.save(self.folder.learner)
        if self.subject.situations is None:
            return
        import torch

        memory = self.memory or Consolidation()
        rows, masks = (torch.from_numpy(each) for each in self.subject.situations)
        memory.consolidate(network_of(self.learner), rows, masks)
        self.folder.keep(memory)

    @property
    def rounds(self) -> int:
        """Of the next chapter; 0: there is none."""
        left = min(self.order.checkpoint_steps, self.order.steps - self.learner.steps)
        return max(1, left // len(self.subject.environments)) if left > 0 else 0

    def steps(self, rounds: int) -> Iterator[Steps]:
        """Of one chapter; who takes them lets the learner learn from each before the next."""
        if self.curriculum is None:
            yield from gymnasium_steps(self.subject.environments, self.learner, self._seed(), rounds)
            return
        for first in range(0, rounds, VISIT_ROUNDS):
            name = self.curriculum.next()
            course = self.subject.courses[name]
            count = min(VISIT_ROUNDS, rounds - first)
            yield from gymnasium_steps(course.environments, self.learner, self._seed(), count)
            self.curriculum.observe(name, course.score(self.learner))

    def learn(self, steps: Steps) -> Mapping[str, float]:
        with nullcontext() if self.memory is None else self.memory.guard(network_of(self.learner)):
            return self.learner.learn(steps)

    def _seed(self) -> int:
        return int(np.random.SeedSequence([self.order.seed, self.learner.steps]).generate_state(1)[0])


def resumed(trainees: list[Trainee]) -> list[UnderWay]:
    """All from the last chapter that all of them saved: whoever died may have saved the first of them only."""
    for trainee in trainees:
        _refuse_changed(trainee)
    common = set.intersection(*(trainee.folder.chapters() for trainee in trainees))
    if not common:
        raise WhetError(f"Nothing was saved in {trainees[0].folder.path}.", "Train anew, without --resume.")
    return [UnderWay.resumed(trainee, max(common)) for trainee in trainees]


def _refuse_changed(trainee: Trainee) -> None:
    order, before = trainee.order, trainee.folder.order()
    told = [name for name in Order.model_fields if name != "steps" and getattr(order, name) != getattr(before, name)]
    if told:
        raise WhetError(
            f"The training in {trainee.folder.path} cannot go on: {', '.join(told)} changed since it began.",
            "Give what it began with, or train anew without --resume.",
        )
