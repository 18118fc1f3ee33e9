"""Decisions: what ran, why, and what came of it."""

from collections.abc import Mapping
from typing import Any

from whet.agents.catalogue import AGENTS
from whet.bootstrap.site import Site
from whet.core.errors import RefusedInput
from whet.core.ports import Store
from whet.core.records import Alternative, Decision, Experience, Reward
from whet.core.text import printable
from whet.mcp.answers import NOT_VISITED, DecisionLine, DecisionList, Earned, ExplainedDecision, Recollected, Weighed
from whet.mcp.quoting import Quoted, named, quoted, sentence
from whet.reports.compose import read_outcome, why
from whet.reports.highlights import highlights


def recent(site: Site, limit: int) -> DecisionList:
    if not site.visited:
        return DecisionList(decisions=(), decisions_total=0, notes=(NOT_VISITED,))
    with site.store() as store:
        return DecisionList(
            decisions=tuple(map(_line, store.decisions.recent(limit=limit))), decisions_total=store.decisions.count()
        )


def explain(site: Site, decision_id: str) -> ExplainedDecision:
    if not site.visited:
        raise RefusedInput("There are no decisions yet.", NOT_VISITED)
    with site.store() as store:
        decision, state = _find(store, decision_id)
        experience = store.experiences.of_decision(decision.id)
        memories = _remembered(store, decision)
    return ExplainedDecision(
        decision=_line(decision),
        action_summary=_summary(decision),
        proposed=decision.proposed,
        decided_by=decision.decided_by,
        probability=decision.probability,
        policy=decision.policy,
        policy_version=decision.policy_version,
        state=_told(state),
        alternatives=tuple(map(_weighed, decision.alternatives)),
        memories=memories,
        measured=None if experience is None else measured(experience),
        problem=None if experience is None else problem(experience),
        reward=None if experience is None else earned(experience.reward),
    )


def measured(experience: Experience) -> dict[str, str]:
    """Empty when another version of Whet recorded it in a form that is not known here."""
    outcome = read_outcome(experience)
    facts = {} if outcome is None else highlights(outcome)
    return {name: named(value) for name, value in facts.items() if name != "problem"}


def problem(experience: Experience) -> Quoted | None:
    failed = experience.outcome.get("failed")
    return quoted(failed) if isinstance(failed, str) else None


def earned(reward: Reward) -> Earned:
    parts = {part.name: part.points for part in reward.parts}
    return Earned(raw=reward.raw, shaped=reward.shaped, credited=reward.credited, parts=parts)


def _find(store: Store, prefix: str) -> tuple[Decision, dict[str, object]]:
    found = store.decisions.find(prefix)
    if len(found) == 1:
        return found[0]
    if found:
        raise RefusedInput(f"{len(found)} decisions begin with {prefix!r}.", "Give more of the id.")
    raise RefusedInput(f"There is no decision {printable(prefix, 80)!r}.", "The tool `decisions` lists their ids.")


def _remembered(store: Store, decision: Decision) -> tuple[Recollected, ...]:
    """A decision keeps which memories counted, not what they say: what was forgotten meanwhile stays so."""
    texts = {memory.id: memory.text for memory in store.memories.get([each.memory for each in decision.memories])}
    return tuple(
        Recollected(
            text=quoted(texts[each.memory]) if each.memory in texts else None,
            why=sentence(each.why),
            weight=each.weight,
        )
        for each in decision.memories
    )


def _line(decision: Decision) -> DecisionLine:
    return DecisionLine(
        id=decision.id,
        at=decision.at,
        run_id=decision.run_id,
        agent=decision.agent,
        action=decision.action,
        why=sentence(why(decision)),
        confidence=decision.confidence,
        explored=decision.explored,
        review=decision.review.value,
    )


def _summary(decision: Decision) -> str:
    """Another version of Whet may have had other agents and actions."""
    agent = AGENTS.get(decision.agent)
    return next((a.summary for a in agent.actions if a.name == decision.action), "") if agent else ""


def _weighed(alternative: Alternative) -> Weighed:
    return Weighed(
        action=alternative.action,
        expected_reward=alternative.value,
        standard_error=alternative.uncertainty,
        visits=alternative.visits,
        source=alternative.source,
        probability=alternative.probability,
        confidence=alternative.confidence,
    )


def _told(value: Any) -> Any:
    match value:
        case str():
            return named(value)
        case Mapping():
            return {named(str(name)): _told(each) for name, each in value.items()}
        case list() | tuple():
            return [_told(each) for each in value]
    return value
