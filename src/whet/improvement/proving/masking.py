"""What a policy may not do, enforced on our side: no artefact's word is enough for an action that is not allowed."""

from collections.abc import Sequence

from whet.core.errors import RefusedInput
from whet.core.ports import Choice
from whet.core.records import Action


def within_mask(choice: Choice, allowed: Sequence[Action]) -> Choice:
    """The choice without actions that are not allowed here. Their chances go to the likeliest of the others, which is
    chosen in their place: so the probabilities stay those with which actions run."""
    names = {action.name for action in allowed}
    kept = [each for each in choice.alternatives if each.action in names]
    if len(kept) == len(choice.alternatives) and choice.action in names:
        return choice
    if not kept:
        raise RefusedInput(
            f"The policy weighs only actions that are not allowed here: {choice.action}.",
            "It was made for another version of the agent; train a new one.",
        )
    heir = max(kept, key=lambda each: each.probability)
    others = sum(each.probability for each in kept if each is not heir)
    inherited = heir.model_copy(update={"probability": max(0.0, 1.0 - others)})
    return choice.model_copy(
        update={
            "action": choice.action if choice.action in names else heir.action,
            "alternatives": tuple(inherited if each is heir else each for each in kept),
        }
    )
