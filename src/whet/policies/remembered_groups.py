"""Memories of one action in one state, as a table would hold them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np

from whet.core.memories import Recalled
from whet.core.ports import LARGEST_Q_VALUE, Entry
from whet.policies.beliefs import PRIOR_DEGREES, PRIOR_SPREAD

# What is less like tells nothing.
LEAST_LIKENESS = 0.01


@dataclass(frozen=True, eq=False)
class Group:
    action: str
    state_key: str
    foreign: bool  # of another project
    recalled: tuple[Recalled, ...]
    entry: Entry

    @cached_property
    def score(self) -> float:
        return max(each.score for each in self.recalled)

    @cached_property
    def at(self) -> datetime:
        return max(each.memory.at for each in self.recalled)


def groups(actions: Sequence[str], recalled: Sequence[Recalled]) -> list[Group]:
    """Of these actions. Where something followed, what it was worth is not in the reward: such memories say nothing."""
    if any(each.memory.about.get("done") is False for each in recalled):
        return []
    found: dict[tuple[str, str, bool], list[Recalled]] = defaultdict(list)
    for each in recalled:
        about = each.memory.about
        action, state = about.get("action"), about.get("state_key")
        told = isinstance(state, str) and reward_of(each) is not None and each.score >= LEAST_LIKENESS
        if told and action in actions:
            found[str(action), str(state), about.get("origin") is not None].append(each)
    return [_group(*place, mine) for place, mine in found.items()]


def beyond(found: Sequence[Group], tables: Mapping[tuple[str, str], Entry]) -> list[Group]:
    """What this project's memories tell beyond its tables."""
    kept = [_beyond(group, tables.get((group.state_key, group.action))) for group in found if not group.foreign]
    return [group for group in kept if group is not None]


def _beyond(group: Group, known: Entry | None) -> Group | None:
    """Every visit of the table's cell may be remembered too, and is counted already. What was lived here has a position
    in the stream; of those the newest are what the table knows, others are from before it was wiped."""
    lived = [each for each in group.recalled if isinstance(each.memory.about.get("position"), int)]
    if known is None or not known.visits or not lived:
        return group
    newest = sorted(lived, key=lambda each: (each.memory.at, each.memory.id), reverse=True)
    counted = {each.memory.id for each in newest[: known.visits]}
    rest = [each for each in group.recalled if each.memory.id not in counted]
    return _group(group.action, group.state_key, group.foreign, rest) if rest else None


def _group(action: str, state_key: str, foreign: bool, recalled: Sequence[Recalled]) -> Group:
    rewards = np.array([reward_of(each) for each in recalled])
    mean = float(rewards.mean())
    entry = Entry(q_value=mean, visits=len(rewards), mean=mean, m2=float(np.square(rewards - mean).sum()))
    return Group(action, state_key, foreign, tuple(recalled), entry)


def aged(entry: Entry, left: float) -> Entry:
    """Old memories count as fewer, one at least."""
    visits = max(1, round(left * entry.visits))
    return entry.model_copy(update={"visits": visits, "m2": entry.m2 * visits / entry.visits})


def pooled(before: Entry, own: Entry | None, rate: float) -> Entry:
    """The entry of a table that saw both, first what was before."""
    if own is None or not own.visits:
        return before
    visits, apart = own.visits + before.visits, own.mean - before.mean
    left = min(before.visits / visits, (1.0 - rate) ** own.visits)  # of what was before, in a value that forgets
    return Entry(
        q_value=left * before.q_value + (1.0 - left) * own.q_value,
        visits=visits,
        mean=(own.visits * own.mean + before.visits * before.mean) / visits,
        m2=own.m2 + before.m2 + apart**2 * own.visits * before.visits / visits,
    )


def noise_of(entries: Sequence[Entry], usual: float | None = None) -> float:
    """Variance of single rewards, pooled over entries; until measured the usual one, which is half the prior."""
    prior = (PRIOR_SPREAD / 2) ** 2 if usual is None else usual
    squares, degrees = sum(each.m2 for each in entries), sum(each.visits - 1 for each in entries)
    return (squares + PRIOR_DEGREES * prior) / (degrees + PRIOR_DEGREES)


def unit_of(found: Sequence[Group], usual: float) -> float:
    """The usual size of the differences between actions of a state, in reward points; until measured, that of noise."""
    states: dict[tuple[str, bool], list[float]] = defaultdict(list)
    for group in found:
        states[group.state_key, group.foreign].append(group.entry.mean)
    squares = sum(float(np.square(np.array(means) - np.mean(means)).sum()) for means in states.values())
    degrees = sum(len(means) - 1 for means in states.values())
    return float(np.sqrt((squares + PRIOR_DEGREES * usual) / (degrees + PRIOR_DEGREES)))


def reward_of(recalled: Recalled) -> float | None:
    """Memories may be imported: what is no reward is none."""
    value = recalled.memory.about.get("reward")
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST_Q_VALUE:
        return None
    return float(value)
