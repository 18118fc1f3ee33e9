"""Facts, counted from episodes. Pure functions: the same episodes, in any order, give the same facts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from whet.core.memories import Memory
from whet.memory.facts_changes import change_claims
from whet.memory.facts_claims import Claim, counted
from whet.memory.facts_counting import Occasion, associations
from whet.memory.facts_flakiness import flakiness_claims

_EXCEPTION, _FILE = "exception:", "file:"


def fact_claims(episodes: Iterable[Memory]) -> list[Claim]:
    """Everything with enough support, whether it holds or not; each episode counts once."""
    once = list({episode.id: episode for episode in episodes}.values())
    runs = [each for each in once if each.source.startswith("run:")]
    failures = [each for each in once if each.topic == "failure"]
    lived = [each for each in once if each.topic == "experience" and each.agent is not None]
    return [
        *change_claims(runs),
        *flakiness_claims(runs),
        *_place_claims(failures),
        *_action_claims(lived),
    ]


def _place_claims(failures: Sequence[Memory]) -> Iterator[Claim]:
    """Where failures with an exception come from: which file of the project they passed through."""
    for condition, effect, tally, beyond in associations(map(_failure, failures)):
        exception, file = condition.removeprefix(_EXCEPTION), effect.removeprefix(_FILE)
        sentence = f"Failures with {exception} lead to {file}: {counted(tally)}."
        yield Claim("place", (exception, file), sentence, tally, tally.holds(), beyond, (condition, effect))


def _failure(memory: Memory) -> Occasion:
    """The test's own file says nothing: every failure of the test is in it."""
    own = f"{_FILE}{memory.about.get('test', '')}".partition("::")[0]
    exceptions = frozenset(each for each in memory.subjects if each.startswith(_EXCEPTION))
    files = frozenset(each for each in memory.subjects if each.startswith(_FILE) and each != own)
    return Occasion(memory.at, memory.id, exceptions, files)


def _action_claims(lived: Sequence[Memory]) -> Iterator[Claim]:
    """Actions that could not do their job in a kind of situation, against the same agent's others."""
    by_agent: dict[str, list[Memory]] = defaultdict(list)
    for each in lived:
        by_agent[str(each.agent)].append(each)
    for agent, mine in sorted(by_agent.items()):
        for condition, _, tally, beyond in associations(map(_turn, mine)):
            action, _, situation = condition.partition(" ")
            where = f" where {situation}" if situation else ""
            sentence = f"{agent}: {action}{where} could not do its job, {counted(tally)}."
            names, about = (agent, action, situation), (f"agent:{agent}", f"action:{action}")
            yield Claim("action", names, sentence, tally, tally.holds(), beyond, about, agent)


def _turn(memory: Memory) -> Occasion:
    condition = f"{memory.about.get('action')} {memory.about.get('situation') or ''}"
    failed = frozenset({"failed"}) if memory.about.get("failed") is True else frozenset()
    return Occasion(memory.at, memory.id, frozenset({condition}), failed)
