"""Recalled experiences as tokens: what a network that has room for memories sees beside the state."""

from collections.abc import Mapping, Sequence

import numpy as np

from whet.core.memories import Recalled
from whet.core.ports import Entry
from whet.core.records import Recollection
from whet.policies.deep.fields import squash
from whet.policies.deep.learning import Floats
from whet.policies.remembered_groups import beyond, groups, reward_of


def width(actions: Sequence[str]) -> int:
    """How like the state was, what was earned, and which action it was."""
    return 2 + len(actions)


def usable(
    recalled: Sequence[Recalled], actions: Sequence[str], most: int, state_key: str, own: Mapping[str, Entry]
) -> list[Recalled]:
    """The first that say what an action earned, without what the table of this state (`own`, by action) counts already:
    it is put together with what the network thinks, and would be counted twice."""
    found = groups(actions, recalled)
    here = [group for group in found if group.state_key == state_key and not group.foreign]
    new = beyond(here, {(state_key, action): entry for action, entry in own.items()})
    told = {each.memory.id for group in (*new, *(g for g in found if g not in here)) for each in group.recalled}
    return [each for each in recalled if each.memory.id in told][:most]


def tokens(recalled: Sequence[Recalled], actions: Sequence[str]) -> list[Floats]:
    return [token(e.score, reward_of(e) or 0.0, str(e.memory.about["action"]), actions) for e in recalled]


def recollections(recalled: Sequence[Recalled]) -> tuple[Recollection, ...]:
    """The network saw each of them; nobody knows which it made more of than their likeness says."""
    whole = sum(each.score for each in recalled) or 1.0
    return tuple(Recollection(memory=e.memory.id, why=e.why, weight=min(1.0, e.score / whole)) for e in recalled)


def token(likeness: float, reward: float, chosen: str, actions: Sequence[str]) -> Floats:
    return np.array([likeness, squash(reward), *(float(chosen == action) for action in actions)], dtype=np.float32)
