"""Between what a policy proposes and what runs: a person's word, and the safe default when confidence is low."""

from collections.abc import Sequence
from dataclasses import dataclass

from whet.core.ports import Choice, Ruling
from whet.core.records import Action, Decision, Review


@dataclass(frozen=True)
class Gate:
    """Below these confidences the safe default runs and the proposal goes to review.

    An action that may hide something from the user (leaves tests out, stops early) must be
    more certain than one that at worst costs time. Where nothing at all is known the safe default
    runs too, as the baseline against which everything else is measured; that needs no review.
    """

    review_below: float = 0.05
    review_hiding_below: float = 0.6

    def decide(
        self,
        *,
        run_id: str,
        agent: str,
        state_key: str,
        policy: str,
        choice: Choice,
        allowed: Sequence[Action],
        default: Action,
        ruling: Ruling | None,
    ) -> Decision:
        confidence = next(a.confidence for a in choice.alternatives if a.action == choice.action)
        action, decided_by, review = self._settle(choice, allowed, default, ruling)
        return Decision(
            run_id=run_id,
            agent=agent,
            state_key=state_key,
            proposed=choice.action,
            action=action,
            probability=1.0 if decided_by == "person" else self._probability(action, choice, allowed, default),
            confidence=confidence,
            explored=choice.explored and decided_by == "policy",
            policy=policy,
            policy_version=choice.version,
            decided_by=decided_by,
            alternatives=choice.alternatives,
            memories=choice.memories,
            review=review,
        )

    def _settle(
        self, choice: Choice, allowed: Sequence[Action], default: Action, ruling: Ruling | None
    ) -> tuple[str, str, Review]:
        if ruling is not None and any(a.name == ruling.action for a in allowed):
            return ruling.action, "person", Review(ruling.verdict)
        if _nothing_known(choice):
            return default.name, "safe-default", Review.NOT_NEEDED
        if choice.action in self._held(choice, allowed, default):
            return default.name, "safe-default", Review.PENDING
        return choice.action, "policy", Review.NOT_NEEDED

    def _held(self, choice: Choice, allowed: Sequence[Action], default: Action) -> set[str]:
        """The actions that would not run on the policy's word alone."""
        limits = {a.name: self.review_hiding_below if a.hides else self.review_below for a in allowed}
        return {
            a.action
            for a in choice.alternatives
            if a.action != default.name and a.confidence is not None and a.confidence < limits[a.action]
        }

    def _probability(self, action: str, choice: Choice, allowed: Sequence[Action], default: Action) -> float:
        """The chance that `action` runs here: its own, plus for the default that of everything held back."""
        if _nothing_known(choice):
            return 1.0
        chances = {a.action: a.probability for a in choice.alternatives}
        held = self._held(choice, allowed, default)
        extra = sum(chances[name] for name in held) if action == default.name else 0.0
        return min(1.0, max(chances[action] + extra, 1e-12))


def _nothing_known(choice: Choice) -> bool:
    """A learning policy that knows of none of them; one that weighs nothing was put there by a person."""
    unknown = [a.value is None and a.source != "network" for a in choice.alternatives]
    return all(unknown) and all(a.confidence is not None for a in choice.alternatives)
