"""Why a memory was recalled, in words."""

from datetime import datetime

from whet.core.memories import Kind, Memory, Question
from whet.memory.retrieval_ranking import Candidate, age_days

# Below this likeness a text is not like the question; it was found for another reason.
LEAST_LIKENESS_TOLD = 0.2
MOST_SUBJECTS_TOLD = 3


def why(candidate: Candidate, question: Question, now: datetime) -> str:
    memory = candidate.memory
    parts = [
        _about(memory, question),
        _alike(candidate.likeness),
        happened(memory, now),
        _held(memory),
        "" if memory.used == 0 else f"used {_times(memory.used)}",
        "" if not candidate.repeats else f"{len(candidate.repeats)} more like it",
        "pinned" if memory.pinned else "",
    ]
    return "; ".join(part for part in parts if part)


def _about(memory: Memory, question: Question) -> str:
    """ "about the same test and exception": the kinds of what both are about, each once."""
    mine = set(memory.subjects)
    kinds = dict.fromkeys(_kind(subject) for subject in question.subjects if subject in mine)
    if not kinds:
        return ""
    told = list(kinds)[:MOST_SUBJECTS_TOLD]
    return "about the same " + (" and ".join((", ".join(told[:-1]), told[-1])) if len(told) > 1 else told[0])


def _kind(subject: str) -> str:
    kind, colon, _ = subject.partition(":")
    return kind if colon and kind.isidentifier() else "thing"


def _alike(likeness: float | None) -> str:
    return "" if likeness is None or likeness < LEAST_LIKENESS_TOLD else f"{likeness:.2f} alike"


def happened(memory: Memory, now: datetime) -> str:
    days = int(age_days(memory, now))
    did = "happened" if memory.kind == Kind.EPISODIC else "known since"
    if days == 0:
        return f"{did} less than a day ago"
    return f"{did} {days} {'day' if days == 1 else 'days'} ago"


def _held(memory: Memory) -> str:
    if memory.kind == Kind.EPISODIC:
        return ""
    held = "worked" if memory.kind == Kind.PROCEDURAL else "held"
    return f"{held} {memory.support} of {_times(memory.support + memory.against)}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
