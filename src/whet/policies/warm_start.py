"""Thompson sampling that does not begin at zero: what other projects' worlds taught is where its beliefs begin.

A prior says of each action how far above or below the others it paid in other projects, and how far that differed from
project to project: empirical Bayes (Efron and Morris, 1973). Both are counted in *units*, the usual size of the
differences between actions in a state, since states differ most in how much is at stake. The level of a state and its
own unit are learned as it is visited. Nothing here needs more than numpy.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, ValidationError

from whet.core.errors import WhetError
from whet.core.ports import Entry
from whet.core.records import Count, Record
from whet.policies.beliefs import PRIOR_SPREAD, Beliefs, Vector, believe
from whet.policies.hierarchy import Hierarchy, Known
from whet.policies.remembered import Reminder
from whet.policies.remembered_trust import View
from whet.policies.tabular import TabularPolicy, Thompson

NAME, FILE = "warm-start", "prior.json"
# What tables make of experience is in points, with this much noise while none was measured. As much is one unit.
_POINTS = PRIOR_SPREAD / 2
# As many states' worth of evidence is the usual unit against what a state itself shows: the least that counts.
_UNIT_STATES = 1.0
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class Expected(Record):
    """Of one action, in units: what it pays beyond the mean of the state, and how far a project may be from that."""

    mean: Annotated[float, Field(allow_inf_nan=False)]
    doubt: Positive
    states: Count


class Prior(Record):
    """`unit`: the usual size of the differences between actions, in reward points."""

    schema_version: Literal[1] = 1
    agent: str
    unit: Positive
    actions: dict[str, Expected]
    sources: tuple[str, ...]

    def of(self, actions: Sequence[str]) -> Beliefs:
        """An action that no world showed may be anything."""
        found = [self.actions.get(name, Expected(mean=0.0, doubt=1.0, states=0)) for name in actions]
        return Beliefs(np.array([each.mean for each in found]), np.array([each.doubt for each in found]))


class WarmStart(TabularPolicy):
    """Each action as often as it is likely to be the best, by the prior and what this project showed."""

    def __init__(self, prior: Prior, hierarchy: Hierarchy, rate: float, rng: np.random.Generator) -> None:
        super().__init__(hierarchy, Thompson(), rate, rng)
        self.prior = prior

    @property
    def name(self) -> str:
        return NAME

    def beliefs(self, known: Sequence[Known]) -> Beliefs:
        return warmed(self.prior, known, self.rate)

    def views(self, known: Sequence[Known], reminder: Reminder) -> list[View]:
        """What other projects taught is expected wherever nothing is remembered."""
        if not reminder:
            return super().views(known, reminder)
        expected, unit = self.prior.of(reminder.actions), _unit(self.prior, known)
        return reminder.views(self.beliefs(known), self.rate, Beliefs(unit * expected.means, unit * expected.errors))


def warmed(prior: Prior, known: Sequence[Known], rate: float) -> Beliefs:
    """Own experience weighed against the prior, in points."""
    expected, points = prior.of([k.action for k in known]), _unit(prior, known) / _POINTS
    means, errors = expected.means * _POINTS, expected.errors * _POINTS
    own, visited = believe([_scaled(k, 1.0 / points) for k in known], rate), np.array([k.visits > 0 for k in known])
    means = means + _level(means, errors, own, visited)
    trust = np.where(visited, errors**2 / (errors**2 + own.errors**2), 0.0)
    return Beliefs(
        points * (means + trust * (own.means - means)),
        points * np.where(visited, np.sqrt(trust) * own.errors, errors),
    )


def opened(folder: Path, agent: str) -> Prior:
    path = folder / FILE
    try:
        found = Prior.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise WhetError(
            f"{agent} is to begin with a warm start, which this project does not have yet.",
            f"Make it: whet train --agent {agent} --policy {NAME}",
        ) from error
    except (OSError, ValidationError) as error:
        raise WhetError(f"{path} is no prior: {error}.", f"Make it again: whet train --policy {NAME}") from error
    if found.agent != agent:
        raise WhetError(f"{path} is the prior of {found.agent}.", f"Make one: whet train --agent {agent}")
    return found


def _unit(prior: Prior, known: Sequence[Known]) -> float:
    """The usual one at first; then more and more the deviation between the actions that were tried here."""
    values = np.array([k.own.mean for k in known if k.own is not None and k.visits])
    squares = float(np.square(values - values.mean()).sum()) if len(values) else 0.0
    return float(np.sqrt((_UNIT_STATES * prior.unit**2 + squares) / (_UNIT_STATES + max(0, len(values) - 1))))


def _scaled(known: Known, factor: float) -> Known:
    """Borrowed values are of other agents, and no evidence beside a prior of its own."""
    own = None if known.own is None or not known.visits else _times(known.own, factor)
    return replace(known, own=own, borrowed=None)


def _times(entry: Entry, factor: float) -> Entry:
    scaled = {"q_value": factor * entry.q_value, "mean": factor * entry.mean, "m2": factor**2 * entry.m2}
    return entry.model_copy(update=scaled)


def _level(means: Vector, errors: Vector, own: Beliefs, visited: Vector) -> float:
    """How much this state pays whatever is done; nothing is known of that beforehand."""
    weights = visited / (errors**2 + own.errors**2)
    return float((weights * (own.means - means)).sum() / weights.sum()) if visited.any() else 0.0
