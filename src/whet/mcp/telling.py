"""A run, told: what each agent did, what came of it, what was found."""

from whet.core.ports import RunRecord
from whet.core.records import Experience
from whet.mcp.answers import RunOutcome, StepTaken
from whet.mcp.deciding import earned, measured, problem
from whet.mcp.finding import troubles
from whet.mcp.quoting import sentence
from whet.reports.compose import why
from whet.store.sql_store import SqlStore

_MOST_FINDINGS = 50
_MOST_STEPS = 200


def told_run(store: SqlStore, run: RunRecord, notes: tuple[str, ...] = ()) -> RunOutcome:
    lived = list(reversed(store.experiences.recent(limit=_MOST_STEPS, run_id=run.id)))
    found = store.runs.findings(run.id)
    return RunOutcome(
        run_id=run.id,
        status=run.status,
        started_at=run.started_at,
        budget_seconds=run.budget_seconds,
        used_seconds=run.summary.get("used_seconds"),
        steps=tuple(_step(experience) for experience in lived if experience.agent != "fleet-commander"),
        reward_total=sum(experience.reward.credited for experience in lived) if lived else None,
        findings=troubles(store, found, _MOST_FINDINGS),
        findings_total=len(found),
        notes=notes,
    )


def _step(experience: Experience) -> StepTaken:
    decision, seconds = experience.decision, experience.outcome.get("duration_seconds")
    return StepTaken(
        decision_id=decision.id,
        agent=experience.agent,
        action=decision.action,
        why=sentence(why(decision)),
        seconds=seconds if isinstance(seconds, int | float) else None,
        cut_short=bool(experience.outcome.get("cut_short")),
        measured=measured(experience),
        problem=problem(experience),
        reward=earned(experience.reward),
    )
