"""What the fleet is reminded of: before each decision, and at each finding.

Memory is beside the path. Trouble with it is told once, and from then on nothing is recalled: it never ends a visit.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from whet.core.memories import Embedder, Kind, Memory, Recall, Recalled, Wanted
from whet.core.ports import Store
from whet.core.records import Finding, Recollection, State, now
from whet.fleet.resembling import Resembling, Scene
from whet.memory.failures import Turn
from whet.memory.masking import masked
from whet.memory.remembering_cues import state_cue
from whet.memory.remembering_texts import fitting
from whet.policies.likeness import likeness
from whet.policies.remembered import score
from whet.policies.remembered_groups import LEAST_LIKENESS
from whet.tools.budget import Budget

T = TypeVar("T")
# Failing tests to where they turn, as many as can be followed within what is left of the budget.
Follow = Callable[[Sequence[str], Budget], Mapping[str, Turn]]
# While an agent has no more, all its experiences are looked at; of more, the newest and the nearest.
LOOKED_AT = 256
# States whose memories count in one decision.
MOST_STATES = 8
# Troubles of a run that are compared with earlier ones: one cause often breaks hundreds of tests.
MOST_FINDINGS = 20


@dataclass
class Recalling:
    """`recall` and `embedder` are made when first needed. What is remembered does not change during a visit."""

    store: Store
    project: str
    recall: Callable[[], Recall]
    embedder: Callable[[], Embedder]
    per_action: int = 16
    follow: Follow | None = None
    turned: dict[str, Turn] = field(default_factory=dict, init=False)  # where tests turned that fail in this visit
    _newest: dict[str, list[Memory]] = field(default_factory=dict, init=False)
    _used: set[str] = field(default_factory=set, init=False)
    _compared: int = field(default=0, init=False)
    _troubled: bool = field(default=False, init=False)

    def experiences(self, agent: str, state: State, actions: int, warn: Callable[[str], None]) -> list[Recalled]:
        """Of this agent, in states like this one, most alike first."""
        return self._unless_troubled(lambda: self._experiences(agent, state, actions), warn) or []

    def compare(self, findings: Sequence[Finding], scene: Scene, warn: Callable[[str], None]) -> tuple[Finding, ...]:
        """The findings, with what they resemble and what is known about their places."""
        compared = self._unless_troubled(lambda: tuple(self._compare(finding, scene) for finding in findings), warn)
        return tuple(findings) if compared is None else compared

    def trace(self, findings: Sequence[Finding], budget: Budget, warn: Callable[[str], None]) -> tuple[Finding, ...]:
        """The findings, with where failing tests first go another way than when they passed."""
        tests = [each.test for each in findings if each.kind == "failing-test" and each.test is not None]
        if self.follow is not None and tests:
            try:
                self.turned |= self.follow(tests, budget)
            except Exception as error:  # the failures are known without
                warn(f"Failing tests could not be followed: {error}")
        return tuple(_turned(each, self.turned) for each in findings)

    def used(self, recollections: Sequence[Recollection]) -> None:
        self._used.update(each.memory for each in recollections)

    def conclude(self, warn: Callable[[str], None]) -> None:
        """Once per visit: what was of use is kept longer."""
        ids, self._used = sorted(self._used), set()
        if ids:
            self._unless_troubled(lambda: self.store.memories.note_use(ids, now()), warn)

    def _experiences(self, agent: str, state: State, actions: int) -> list[Recalled]:
        if not self.per_action or not actions or not (known := self._known(agent)):
            return []
        cue, key, at = fitting(state_cue(agent, state.model_dump(mode="json"))), state.key(), now()
        found = known if len(known) < LOOKED_AT else [*known, *self._nearest(agent, cue, key, actions)]
        scored = [_recalled(memory, cue, key, at) for memory in {each.id: each for each in found}.values()]
        best = _most_alike([each for each in scored if each.score >= LEAST_LIKENESS], self.per_action)
        return [each for each in best if not self._lost_its_place(each.memory, key)]

    def _known(self, agent: str) -> list[Memory]:
        if agent not in self._newest:
            self._newest[agent] = self.store.memories.newest(self._wanted(agent), LOOKED_AT)
        return self._newest[agent]

    def _nearest(self, agent: str, cue: str, key: str, actions: int) -> list[Memory]:
        limit = actions * self.per_action
        wanted, embedder, memories = self._wanted(agent), self.embedder(), self.store.memories
        near = memories.nearest(wanted, embedder.name, embedder.embed([cue])[0], limit)
        same = memories.sharing(wanted, [f"state:{key}"], limit)
        return [each.memory for each in (*same, *near)]

    def _wanted(self, agent: str) -> Wanted:
        return Wanted(project=self.project, kinds=(Kind.EPISODIC,), topics=("experience",), agent=agent)

    def _lost_its_place(self, memory: Memory, key: str) -> bool:
        """Lived here, exported and imported again: the table of this very state may know it, and nobody can tell."""
        about = memory.about
        if about.get("state_key") != key or about.get("position") is not None:
            return False
        return self.store.experiences.of_decision(str(about.get("decision_id"))) is not None

    def _compare(self, finding: Finding, scene: Scene) -> Finding:
        resembling = Resembling(self.store.memories, self.project, self.recall, self.embedder)
        if not resembling.can_compare(finding) or self._compared >= MOST_FINDINGS:
            return finding
        self._compared += 1
        compared = resembling.compare(finding, scene)
        self.used((*compared.memories, *compared.known))
        return compared

    def _unless_troubled(self, ask: Callable[[], T], warn: Callable[[str], None]) -> T | None:
        if self._troubled:
            return None
        try:
            return ask()
        except Exception as error:
            self._troubled = True
            warn(f"This visit goes on without memory: {error}")
            return None


def _turned(finding: Finding, turned: Mapping[str, Turn]) -> Finding:
    turn = turned.get(finding.test or "") if finding.kind == "failing-test" else None
    if turn is None or not turn.place:
        return finding
    return finding.model_copy(update={"turned": masked(f"It {turn.sentence}")})


def _most_alike(recalled: Sequence[Recalled], per_action: int) -> list[Recalled]:
    """Of the states most like, the newest memories of each action."""
    best = sorted(recalled, key=lambda each: (-each.score, -each.memory.at.timestamp(), each.memory.id))
    states = list(dict.fromkeys(_state(each) for each in best))[:MOST_STATES]
    taken: Counter[tuple[str, ...]] = Counter()
    found = []
    for each in best:
        place = (*_state(each), str(each.memory.about.get("action")))
        taken[place] += 1
        if taken[place] <= per_action and _state(each) in states:
            found.append(each)
    return found


def _state(recalled: Recalled) -> tuple[str, str]:
    """Another project's is another."""
    about = recalled.memory.about
    return str(about.get("origin")), str(about.get("state_key"))


def _recalled(memory: Memory, cue: str, key: str, at: datetime) -> Recalled:
    same = memory.about.get("state_key") == key
    alike = 1.0 if same else likeness(cue, memory.found_by())
    earned = memory.about.get("reward")
    told = f"{earned:+.1f}" if isinstance(earned, int | float) else "an unknown reward"
    where = "the same state" if same else f"a state {alike:.0%} like this one"
    where = where if memory.about.get("origin") is None else f"{where} in another project"
    why = f"in {where}, on {memory.at:%Y-%m-%d}, {memory.about.get('action')} earned {told}"
    return Recalled(memory, score(alike, max(at - memory.at, timedelta(0))), why)
