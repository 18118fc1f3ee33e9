"""How things are done well: what agents did one after the other in a run, where it worked more often than not."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import fmean

from whet.core.memories import Kind, Memory
from whet.memory.facts_claims import Claim, counted
from whet.memory.facts_counting import Occasion, associations

LENGTHS = (2, 3)
# What sends others does not do anything itself.
_SENDING = frozenset({"delegated", "stopped"})
_THEN = " → "

Steps = tuple[Memory, ...]


def procedure_claims(episodes: Iterable[Memory]) -> list[Claim]:
    """A sequence worked when every step did its job and together they earned more than such sequences do on average
    in that situation. Pure: the same episodes, in any order, give the same procedures."""
    runs = _runs({episode.id: episode for episode in episodes}.values())
    return [claim for length in LENGTHS for claim in _claims(runs, length)]


def _claims(runs: Sequence[Steps], length: int) -> Iterator[Claim]:
    by_situation: dict[str, list[Steps]] = defaultdict(list)
    for run in runs:
        for start in range(len(run) - length + 1):
            steps = run[start : start + length]
            by_situation[str(steps[0].about.get("situation") or "")].append(steps)
    for situation, done in sorted(by_situation.items()):
        usual = fmean(_earned(steps) for steps in done)
        for condition, _, tally, beyond in associations(_occasion(steps, usual) for steps in done):
            where = f"Where {situation}: " if situation else ""
            sentence = f"{where}{condition} worked {counted(tally)}."
            agents = tuple(dict.fromkeys(step.partition(" ")[0] for step in condition.split(_THEN)))
            subjects = (*(f"agent:{agent}" for agent in agents), f"situation:{situation}")
            names = (situation, condition)
            yield Claim("sequence", names, sentence, tally, tally.holds(), beyond, subjects, agents[0], Kind.PROCEDURAL)


def _runs(episodes: Iterable[Memory]) -> list[Steps]:
    """What each run did, in its order; a step that was repeated as it was is one step."""
    lived: dict[object, list[Memory]] = defaultdict(list)
    for each in episodes:
        if each.topic == "experience" and each.agent is not None and each.about.get("kind") not in _SENDING:
            lived[each.about.get("run_id")].append(each)
    ordered = [sorted(steps, key=lambda step: (step.at, step.id)) for steps in lived.values()]
    return [_without_repeats(steps) for steps in ordered]


def _without_repeats(steps: Sequence[Memory]) -> Steps:
    return (*steps[:1], *(after for before, after in pairwise(steps) if _named(before) != _named(after)))


def _occasion(steps: Steps, usual: float) -> Occasion:
    worked = all(step.about.get("failed") is False for step in steps) and _earned(steps) > usual
    last, condition = steps[-1], _THEN.join(_named(step) for step in steps)
    effects = frozenset({"worked"}) if worked else frozenset()
    return Occasion(last.at, f"{steps[0].id}{last.id}", frozenset({condition}), effects)


def _named(step: Memory) -> str:
    return f"{step.agent} {step.about.get('action')}"


def _earned(steps: Steps) -> float:
    rewards = (step.about.get("reward") for step in steps)
    return sum(float(reward) for reward in rewards if isinstance(reward, int | float))
