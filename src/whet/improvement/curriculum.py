"""Which world to practise next: the one where most is being learned (Oudeyer et al., 2007; Matiisen et al., 2017).

    curriculum = Curriculum(("small", "medium", "large"), seed=1)
    name = curriculum.next()
    curriculum.observe(name, score)

What is too easy does not improve any more, and what is too hard not yet; so the order from easy to hard comes by
itself, and what is being forgotten is practised again.
"""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from pydantic import ValidationError

from whet.core.errors import RefusedInput
from whet.core.records import Count, Record
from whet.policies.deep.replay.standing import generator

WINDOW: Final = 4
EXPLORING: Final = 0.2


class _Standing(Record):
    random: dict[str, Any]
    scores: dict[str, tuple[float, ...]]
    visits: dict[str, Count]


class Curriculum:
    """Deterministic by its seed."""

    def __init__(self, tasks: Sequence[str], seed: int, window: int = WINDOW, exploring: float = EXPLORING) -> None:
        if not tasks or len(set(tasks)) != len(tasks):
            raise RefusedInput("A curriculum needs tasks, each with a name of its own.", "Give at least one.")
        self.tasks, self.exploring = tuple(tasks), exploring
        self.random = np.random.default_rng(seed)
        self._scores: dict[str, deque[float]] = {task: deque(maxlen=2 * window) for task in tasks}
        self.visits = dict.fromkeys(tasks, 0)

    def next(self) -> str:
        """By learning progress; with `exploring` any, since what was not tried lately cannot show progress."""
        progress = np.array([self.progress(task) for task in self.tasks])
        chances = np.full(len(progress), 1.0 / len(progress))
        if progress.any():
            chances = self.exploring * chances + (1.0 - self.exploring) * progress / progress.sum()
        return self.tasks[int(self.random.choice(len(chances), p=chances))]

    def observe(self, task: str, score: float) -> None:
        if task not in self._scores or not np.isfinite(score):
            raise RefusedInput(
                f"{score} of {task!r} is no score of this curriculum.", "Give a finite number and its task."
            )
        self._scores[task].append(score)
        self.visits[task] += 1

    def progress(self, task: str) -> float:
        """How far the later half of its last scores is from the earlier half, up or down, beyond what is chance."""
        scores = np.array(self._scores[task])
        half = len(scores) // 2
        if half < 2:
            return 0.0
        earlier, later = scores[:half], scores[-half:]
        error = np.sqrt((earlier.var(ddof=1) + later.var(ddof=1)) / half)
        return max(0.0, abs(float(later.mean() - earlier.mean())) - float(error))

    def save(self, path: Path) -> None:
        random = dict(self.random.bit_generator.state)
        scores = {task: tuple(scores) for task, scores in self._scores.items()}
        path.write_text(_Standing(random=random, scores=scores, visits=self.visits).model_dump_json())

    def go_on_from(self, path: Path) -> None:
        """As one that was saved there, for the same tasks."""
        found = _read(path)
        self.random = generator(found.random)
        if found.scores.keys() != self._scores.keys():
            raise RefusedInput(f"{path} is the curriculum of other tasks.", "Train anew without --resume.")
        for task, scores in found.scores.items():
            self._scores[task].extend(scores)
        self.visits = dict(found.visits)


def visits_in(path: Path) -> dict[str, int]:
    return _read(path).visits


def _read(path: Path) -> _Standing:
    try:
        found = _Standing.model_validate_json(path.read_bytes())
        generator(found.random)
    except (OSError, ValidationError, KeyError, TypeError, OverflowError) as error:
        raise RefusedInput(f"{path} is no curriculum's: {error}.", "Train anew without --resume.") from error
    return found
