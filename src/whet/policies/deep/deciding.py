"""A deep policy decides: it starts from what its network learned elsewhere; what this project shows overrules that.

A network alone would go on preferring what paid on other projects; tables alone know nothing at first. Both are normal
beliefs, and are put together as such (Gelman et al., Bayesian Data Analysis, section 2.5).
"""

import hashlib
from collections.abc import Sequence

import numpy as np

from whet.core.errors import WhetError
from whet.core.memories import Recalled
from whet.core.ports import Choice
from whet.core.records import Action, Alternative, State
from whet.policies.beliefs import Beliefs, Vector, together
from whet.policies.confidence import Calibration, calibration_of
from whet.policies.deep.encoding import Encoder
from whet.policies.deep.learning import Floats
from whet.policies.deep.opinions import Opinion
from whet.policies.deep.tokens import recollections, tokens, usable
from whet.policies.hierarchy import Hierarchy, Known, Place
from whet.policies.posterior import good_enough_probabilities
from whet.policies.static import require_actions
from whet.policies.tabular import Exploration, Thompson


class DeepPolicy:
    """Takes each action as often as it is likely to be the best, as Thompson sampling over tables does."""

    def __init__(
        self,
        opinion: Opinion,
        encoder: Encoder,
        hierarchy: Hierarchy,
        rate: float,
        rng: np.random.Generator,
        calibration: Calibration | None = None,
        exploration: Exploration | None = None,
    ) -> None:
        self.opinion, self.encoder, self.hierarchy, self.rate, self.rng = opinion, encoder, hierarchy, rate, rng
        self.exploration = exploration or Thompson()
        self.calibration = calibration or calibration_of(opinion.name)
        self._place = {name: number for number, name in enumerate(opinion.actions)}

    @property
    def name(self) -> str:
        return f"deep-{self.opinion.name}"

    def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
        require_actions(allowed)
        place = Place.of(state)
        known = self.hierarchy.recall(place, allowed)
        own = {k.action: k.own for k in known if k.own is not None}
        seen = usable(recalled, self.opinion.actions, self.encoder.layout.memories, place.state_key, own)
        learned = self._opinion(state, allowed, tokens(seen, self.opinion.actions))
        beliefs = together(learned, known, self.rate)
        probabilities = self.exploration.probabilities(beliefs)
        drawn = int(self.rng.choice(len(allowed), p=probabilities))
        return Choice(
            action=allowed[drawn].name,
            explored=bool(beliefs.means[drawn] < beliefs.means.max()),
            version=f"{self.name}-{self.opinion.version}-{_digest(beliefs)}",
            alternatives=self._alternatives(known, beliefs, probabilities),
            memories=recollections(seen),
        )

    def _opinion(self, state: State, allowed: Sequence[Action], memories: Sequence[Floats]) -> Beliefs:
        mask = np.zeros(len(self._place), dtype=np.bool_)
        try:
            places = [self._place[action.name] for action in allowed]
        except KeyError as error:
            raise WhetError(
                f"The trained policy does not know the action {error.args[0]!r}.", "Train it again: whet train"
            ) from error
        mask[places] = True
        beliefs = self.opinion.beliefs(self.encoder.row(state, memories), mask)
        return Beliefs(beliefs.means[places], beliefs.errors[places])

    def _alternatives(self, known: Sequence[Known], beliefs: Beliefs, chances: Vector) -> tuple[Alternative, ...]:
        untried = np.array([k.visits == 0 for k in known])
        confidences = self.calibration(good_enough_probabilities(beliefs), untried)
        return tuple(
            Alternative(
                action=k.action,
                value=float(beliefs.means[i]) if self.opinion.values or k.visits else None,
                uncertainty=float(beliefs.errors[i]),
                visits=k.visits,
                source="individual" if k.visits else "network",
                probability=min(1.0, float(chances[i])),
                confidence=float(confidences[i]),
            )
            for i, k in enumerate(known)
        )


def _digest(beliefs: Beliefs) -> str:
    told = repr([beliefs.means.tolist(), beliefs.errors.tolist()])
    return hashlib.sha256(told.encode()).hexdigest()[:12]
