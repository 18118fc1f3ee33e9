"""What was lived, as memories: one per experience, one per finding, one per way in which a test fails."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from whet.core.keys import Atom, state_key
from whet.core.memories import Kind, Memory
from whet.core.ports import Arrived
from whet.core.records import Experience, Finding
from whet.memory.failures import Turn
from whet.memory.masking import masked
from whet.memory.remembering_cues import situation_words, state_cue
from whet.memory.remembering_failures import failure_memory, followed
from whet.memory.remembering_texts import fitting, subjects

SEVERITIES = {"critical": 0.9, "high": 0.7, "medium": 0.5, "low": 0.3}
# A surprise of so many points is half-way to the most surprising one.
_TYPICAL_SURPRISE = 20.0


class Seen(NamedTuple):
    """What a visit saw of failing tests and findings do not keep: all that pytest printed, and where they turned."""

    said: Mapping[str, str] = {}
    turned: Mapping[str, Turn] = {}


NOTHING_SEEN = Seen()


def episodes(project: str, arrived: Arrived, seen: Seen = NOTHING_SEEN) -> list[Memory]:
    """What one turn of the loop leaves behind."""
    lived = arrived.experience
    found = [_found(project, arrived, Finding.model_validate(each), seen) for each in _findings(lived)]
    return [experience_memory(project, arrived), *found] if lived.teaches else found


def experience_memory(project: str, arrived: Arrived) -> Memory:
    lived, decision = arrived.experience, arrived.experience.decision
    about: dict[str, Atom] = {
        "run_id": lived.run_id,
        "decision_id": decision.id,
        "action": decision.action,
        "kind": lived.kind.value,
        "reward": lived.reward.credited,
        "done": lived.done,
        "failed": lived.outcome.get("failed") is not None,
        "state_key": lived.state_key,
        "situation": situation_words(lived.state),
        "position": arrived.position,
    }
    return Memory(
        project=project,
        kind=Kind.EPISODIC,
        topic="experience",
        source=f"experience:{lived.key}",
        agent=lived.agent,
        text=fitting(_told(lived)),
        cue=fitting(state_cue(lived.agent, lived.state)),
        subjects=subjects(
            f"agent:{lived.agent}", f"state:{lived.state_key}", f"action:{decision.action}", f"run:{lived.run_id}"
        ),
        about=about,
        importance=_importance(arrived),
        at=lived.at,
    )


def _importance(arrived: Arrived) -> float:
    """Surprise counts most; what failed, and what found something, is worth more than what went as always."""
    lived = arrived.experience
    surprise = arrived.surprise / (arrived.surprise + _TYPICAL_SURPRISE)
    failed = lived.outcome.get("failed") is not None
    return round(0.2 + 0.5 * surprise + 0.2 * failed + 0.1 * bool(_findings(lived)), 4)


def _told(lived: Experience) -> str:
    where = f" {_in_words(lived.state)}" if situation_words(lived.state) else ""
    did = f"{lived.agent} chose {lived.decision.action}. {_outcome(lived.outcome)}"
    return f"{did} Reward {lived.reward.credited:+.2f}.{where}"


def _in_words(state: Mapping[str, Any]) -> str:
    situation = state["situation"]
    known = {True: "yes", False: "no", None: "unknown"}
    told = {name: known.get(value, value) for name, value in situation.items()}
    return (
        f"The suite was {told.get('suite')}, its pace {told.get('pace')}, failing: {told.get('failing')}, "
        f"changed: {told.get('changed')}, history: {told.get('history')}, budget: {told.get('budget')}."
    )


def _outcome(outcome: Mapping[str, Any]) -> str:
    seconds, found = outcome.get("duration_seconds"), len(outcome.get("findings") or ())
    took = "It did its job" if not isinstance(seconds, int | float) else f"It took {seconds:.1f} s"
    if outcome.get("failed") is not None:
        return f"It could not do its job: {outcome['failed']}"
    return f"{took} and found {found if found else 'nothing'}."


def _findings(lived: Experience) -> list[Any]:
    found = lived.outcome.get("findings")
    return found if isinstance(found, list) else []


def _found(project: str, arrived: Arrived, finding: Finding, seen: Seen) -> Memory:
    if finding.kind == "failing-test" and finding.test is not None:
        return _failing(project, arrived, finding, finding.test, seen)
    return _finding_memory(project, arrived, finding)


def _failing(project: str, arrived: Arrived, finding: Finding, test: str, seen: Seen) -> Memory:
    lived, version, turn = arrived.experience, arrived.code_version, seen.turned.get(test)
    text, where = seen.said.get(test) or finding.evidence, {"file": finding.file, "code_version": version}
    memory = failure_memory(project, test, text, at=lived.at, run_id=lived.run_id, **where)
    memory = memory if turn is None or version is None else followed(memory, turn, version)
    importance, agent = SEVERITIES[finding.severity], lived.agent
    about = {**memory.about, "severity": finding.severity, "position": arrived.position}
    return memory.model_copy(update={"importance": importance, "agent": agent, "about": about})


def _finding_memory(project: str, arrived: Arrived, finding: Finding) -> Memory:
    lived = arrived.experience
    named = (("test", finding.test), ("file", finding.file), ("cause", finding.cause and state_key((finding.cause,))))
    return Memory(
        project=project,
        kind=Kind.EPISODIC,
        topic="finding",
        source=f"finding:{finding.fingerprint()}",
        agent=lived.agent,
        text=fitting(f"{finding.kind}: {finding.title}\n{finding.evidence}"),
        subjects=subjects(f"finding:{finding.kind}", *(f"{name}:{value}" for name, value in named if value)),
        about={
            "run_id": lived.run_id,
            "kind": finding.kind,
            "severity": finding.severity,
            "file": None if finding.file is None else masked(finding.file),
            "line": finding.line,
            "position": arrived.position,
        },
        importance=SEVERITIES[finding.severity],
        at=lived.at,
    )
