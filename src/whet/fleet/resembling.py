"""What a finding resembles among what was found before, and which facts are known about its place.

A resemblance is said only where there is one: the nearest of all memories may be about something else altogether.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath

from whet.core.memories import Embedder, Kind, Memories, Memory, Question, Recall, Recalled, Wanted
from whet.core.records import Finding, Recollection, now
from whet.memory.failures import Turn
from whet.memory.failures_likeness import LEAST_ALIKE, LITTLE
from whet.memory.failures_triage import Triage
from whet.memory.masking import masked
from whet.memory.remembering_texts import fitting, subjects
from whet.memory.retrieval_sentences import LEAST_LIKENESS_TOLD, happened

# Of each finding: earlier ones, and facts.
MOST_ALIKE, MOST_FACTS = 3, 2
_LOOKED_AT = 20
_COMPARED = ("failing-test", "flaky-test", "suite-problem", "api-fault")


@dataclass(frozen=True)
class Scene:
    """Where findings were made: what pytest printed of failing tests, where they turned, and which files were being
    changed."""

    said: Mapping[str, str] = field(default_factory=dict)
    changed: Sequence[str] = ()
    turned: Mapping[str, Turn] = field(default_factory=dict)


@dataclass(frozen=True)
class Resembling:
    memories: Memories
    project: str
    recall: Callable[[], Recall]
    embedder: Callable[[], Embedder]

    def can_compare(self, finding: Finding) -> bool:
        return finding.kind in _COMPARED

    def compare(self, finding: Finding, scene: Scene) -> Finding:
        is_failure = finding.kind == "failing-test" and finding.test is not None
        alike = self._failures(finding, scene) if is_failure else self._findings(finding)
        known = self._facts(finding, scene.changed)
        return finding.model_copy(update={"memories": tuple(alike[:MOST_ALIKE]), "known": tuple(known[:MOST_FACTS])})

    def _failures(self, finding: Finding, scene: Scene) -> list[Recollection]:
        """By where it turned, and everything that pytest printed: the message alone says little of the cause."""
        test, at = masked(finding.test or ""), now()
        text = masked(scene.said.get(finding.test or "") or finding.evidence)
        turn = scene.turned.get(finding.test or "")
        triage = Triage(self.memories, self.embedder())
        found = triage.same_cause(self.project, test, text, turned=turn, limit=_LOOKED_AT)
        told = [(each, each.memory.about.get("test") == test) for each in found]
        return [_recollection(each, same, at) for each, same in told if same or each.score >= LEAST_ALIKE]

    def _findings(self, finding: Finding) -> list[Recollection]:
        named = (("test", finding.test), ("file", finding.file))
        question = Question(
            wanted=Wanted(project=self.project, kinds=(Kind.EPISODIC,), topics=("failure", "finding")),
            text=fitting(f"{finding.kind}: {finding.title}\n{finding.evidence}"),
            subjects=subjects(*(f"{name}:{value}" for name, value in named if value)),
        )
        found = [each for each in self.recall().recall(question, MOST_ALIKE) if _is_alike(each, question.subjects)]
        return [Recollection(memory=each.memory.id, why=each.why, weight=_share(each.likeness)) for each in found]

    def _facts(self, finding: Finding, changed: Sequence[str]) -> list[Recollection]:
        """About this very test, or about its file or folder and a file that is being changed."""
        if finding.test is None:
            return []
        file = finding.test.partition("::")[0]
        places = set(subjects(f"file:{file}", f"file:{PurePosixPath(file).parent}/"))
        test, causes = set(subjects(f"test:{finding.test}")), set(_each_short(f"changed:{each}" for each in changed))
        wanted = Wanted(project=self.project, topics=("fact",))
        found = self.memories.sharing(wanted, [*test, *places, *causes], _LOOKED_AT)
        facts = [near.memory for near in found if _is_about(near.memory, test, places, causes)]
        return [Recollection(memory=fact.id, why=_held(fact), weight=_lower_bound(fact)) for fact in facts]


def _recollection(found: Recalled, same_test: bool, at: datetime) -> Recollection:
    told = ("about the same test" if same_test else "", "" if found.why == LITTLE else found.why)
    why = "; ".join(part for part in (*told, happened(found.memory, at)) if part)
    return Recollection(memory=found.memory.id, why=why, weight=found.score)


def _is_alike(recalled: Recalled, asked: Collection[str]) -> bool:
    return recalled.likeness >= LEAST_LIKENESS_TOLD or not set(asked).isdisjoint(recalled.memory.subjects)


def _is_about(fact: Memory, test: set[str], places: set[str], causes: set[str]) -> bool:
    named = set(fact.subjects)
    return bool(named & test) or bool(named & places and named & causes)


def _each_short(named: Iterable[str]) -> list[str]:
    """Any number of them: `subjects` takes as many as one memory may have."""
    return [short for name in named for short in subjects(name)]


def _held(fact: Memory) -> str:
    return f"it held {fact.support:,} of {fact.support + fact.against:,} times"


def _lower_bound(fact: Memory) -> float:
    bound = fact.about.get("lower_bound")
    return _share(bound) if isinstance(bound, int | float) else 0.0


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
