"""Training deep learners on environments, chapter by chapter; after each one everything is saved.

A chapter begins its environments anew from a seed of its own, so that training that died goes on from the last chapter
to the weights it would have had. Several agents go through their chapters side by side; where their networks can
improve as one computation, they do.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from whet.improvement.training_record import Order, Row, TrainingFolder
from whet.improvement.training_subject import Subject
from whet.improvement.training_tally import Tally, Writer
from whet.improvement.training_under_way import Trainee, UnderWay, resumed
from whet.policies.deep.learning import Steps

_ROWS_A_CHAPTER = 25
Learning = Callable[[Sequence[Steps]], Sequence[Mapping[str, float]]]


class Progress(NamedTuple):
    steps: int
    row: Row
    agent: str


def train(
    subject: Subject, order: Order, folder: TrainingFolder, *, resume: bool = False
) -> Generator[Progress, None, None]:
    """Yields what was measured, as it is; when it is exhausted the artefact is in `folder.learner`."""
    yield from train_all([Trainee(subject, order, folder)], resume=resume)


def train_all(trainees: Sequence[Trainee], *, resume: bool = False) -> Generator[Progress, None, None]:
    """Side by side: all orders are for as many steps, environments and chapters."""
    trainings = resumed(list(trainees)) if resume else [UnderWay.begun(trainee) for trainee in trainees]
    learning = _learning(trainings)
    with ExitStack() as stack:
        writers = [stack.enter_context(Writer(each.folder, each.learner.steps)) for each in trainings]
        while rounds := trainings[0].rounds:
            rows = yield from _chapter(trainings, learning, rounds)
            for training, mine in zip(trainings, rows, strict=True):
                training.folder.append(mine)
                training.save()
            for writer, mine in zip(writers, rows, strict=True):
                writer.write(mine)
    for training in trainings:
        training.finish()


def _chapter(
    trainings: Sequence[UnderWay], learning: Learning, rounds: int
) -> Generator[Progress, None, list[list[Row]]]:
    rows: list[list[Row]] = [[] for _ in trainings]
    tallies = [Tally(len(each.subject.environments)) for each in trainings]
    every = max(1, rounds // _ROWS_A_CHAPTER)
    exchange = _exchange(trainings)
    for number, everyone in enumerate(zip(*(each.steps(rounds) for each in trainings), strict=True), start=1):
        lent = exchange(everyone)
        for tally, steps, told, extra in zip(tallies, everyone, learning(everyone), lent, strict=True):
            tally.add(steps, {**told, **extra})
        if number % every == 0 or number == rounds:
            for training, tally, mine in zip(trainings, tallies, rows, strict=True):
                mine.append(tally.row(training.learner))
                yield Progress(training.learner.steps, mine[-1], training.order.agent)
    return rows


def _exchange(trainings: Sequence[UnderWay]) -> Callable[[Sequence[Steps]], Sequence[Mapping[str, float]]]:
    """What agents lend each other before they learn, where they do; and how much of it each got."""
    if not trainings[0].order.share:
        return lambda everyone: [{} for _ in everyone]
    from whet.improvement.training_sharing import Exchange

    exchange = Exchange(trainings)
    return lambda everyone: [{"borrowed": float(each)} for each in exchange(everyone)]


def _learning(trainings: Sequence[UnderWay]) -> Learning:
    if not trainings[0].order.together:
        return lambda everyone: [each.learn(steps) for each, steps in zip(trainings, everyone, strict=True)]
    from whet.policies.deep.batched import Together
    from whet.policies.deep.dqn import DQN

    learners = [each.learner for each in trainings if isinstance(each.learner, DQN)]
    together = Together(learners)

    def learn(everyone: Sequence[Steps]) -> Sequence[Mapping[str, float]]:
        due = {learner.take_in(steps) for learner, steps in zip(learners, everyone, strict=True)}
        (times,) = due  # one config and as many steps: all are due at once
        told = [together.improve() for _ in range(times)]
        return [learner.told([each[place] for each in told]) for place, learner in enumerate(learners)]

    return learn
