"""One look at every candidate that decides, and what follows from it, in the store.

Everything is read anew, and every change is one step that succeeds only from where the candidate was seen to stand.
So a crash between any two of them loses nothing, and when two do this at once one of them does it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from whet.core.candidates import Candidate, Stage
from whet.core.learning_log import UnitResult
from whet.core.ports import Store
from whet.improvement.rollout import steps
from whet.improvement.rollout.arms import Arms, canary_arms, probation_arms
from whet.improvement.rollout.plan import Plan
from whet.improvement.rollout.restoring import bring_back, predecessor
from whet.improvement.rollout.starting import start
from whet.improvement.rollout.watching import Look, Verdict, watch

LOOK, PAUSED, SETTLED = "look", "paused", "settled"


def roll_out(store: Store, plan: Plan, now: datetime) -> list[Look]:
    """What was seen of every candidate that decides or waits to, by agent."""
    agents = sorted({candidate.agent for candidate in store.candidates.all()})
    return [look for agent in agents for look in roll_out_agent(store, agent, plan, now)]


def roll_out_agent(store: Store, agent: str, plan: Plan, now: datetime) -> list[Look]:
    bring_back(store.candidates, agent, now)
    deciding = [each for stage in (Stage.PRODUCTION, Stage.CANARY) for each in store.candidates.at_stage(agent, stage)]
    watched = [candidate for candidate in deciding if not _settled(candidate)]
    results = _results(store, watched, plan)
    looks = [_looked(store, candidate, results, plan, now) for candidate in watched]
    bring_back(store.candidates, agent, now)
    return looks + start(store.candidates, agent, plan, now)


def look_at(store: Store, candidate: Candidate, plan: Plan, now: datetime) -> Look:
    """What would be done with it now; changes nothing."""
    return _look(store, candidate, _results(store, [candidate], plan), plan, now)


def standing(candidate: Candidate) -> str:
    """As a sentence: what it waits for, if that was looked at since its last step; else that step."""
    look = candidate.evidence.get(LOOK, {})
    waits = look.get("verdict") == Verdict.WAIT and look.get("paused") is candidate.paused is False
    return str(look["sentence"]) if waits and datetime.fromisoformat(look["at"]) >= candidate.since else candidate.why


def in_production(store: Store, agent: str) -> int | None:
    return next((each.number for each in store.candidates.at_stage(agent, Stage.PRODUCTION)), None)


def _settled(candidate: Candidate) -> bool:
    """Since it last came to production: whoever comes back is on probation again."""
    return bool(candidate.evidence.get(SETTLED, {}).get("since") == _since(candidate))


def _since(candidate: Candidate) -> str:
    return steps.as_begun(candidate).since.isoformat()


def _results(store: Store, watched: Sequence[Candidate], plan: Plan) -> Sequence[UnitResult]:
    """Of one agent, as far back as any of its candidates is compared with; read once."""
    if not watched:
        return []
    return store.learning.results(watched[0].agent, min(_compared_since(each, plan) for each in watched))


def _compared_since(candidate: Candidate, plan: Plan) -> datetime:
    since = steps.as_begun(candidate).since
    return since if candidate.stage is Stage.CANARY else since - timedelta(hours=plan.baseline_hours)


def _looked(store: Store, candidate: Candidate, results: Sequence[UnitResult], plan: Plan, now: datetime) -> Look:
    look = _look(store, candidate, results, plan, now)
    _follow(store, candidate, look, plan, now)
    return look


def _look(store: Store, candidate: Candidate, results: Sequence[UnitResult], plan: Plan, now: datetime) -> Look:
    if candidate.stage is Stage.CANARY and _baseline_changed(store, candidate):
        sentence = f"candidate {candidate.number} begins its step again: what it is compared with has changed"
        return Look(number=candidate.number, verdict=Verdict.BEGIN_AGAIN, sentence=sentence)
    look = watch(steps.as_begun(candidate), _arms(candidate, results, plan, now), plan, now)
    return _waiting(store, candidate, look) if look.verdict is Verdict.PROMOTE else look


def _waiting(store: Store, candidate: Candidate, look: Look) -> Look:
    """Whom a person paused in production stays there until a person says otherwise."""
    paused = next((each for each in store.candidates.at_stage(candidate.agent, Stage.PRODUCTION) if each.paused), None)
    if paused is None:
        return look
    sentence = f"candidate {candidate.number} is better and waits: candidate {paused.number}, in production, is paused"
    return look.model_copy(update={"verdict": Verdict.WAIT, "sentence": sentence})


def _baseline_changed(store: Store, candidate: Candidate) -> bool:
    noted = steps.begun(candidate)
    return noted is not None and noted.against != in_production(store, candidate.agent)


def _arms(candidate: Candidate, results: Sequence[UnitResult], plan: Plan, now: datetime) -> Arms:
    begun, since = steps.as_begun(candidate), _compared_since(candidate, plan)
    compared = [each for each in results if each.at >= since]
    return (canary_arms if candidate.stage is Stage.CANARY else probation_arms)(begun, compared, now)


def _follow(store: Store, candidate: Candidate, look: Look, plan: Plan, now: datetime) -> None:
    """Take the step the look calls for, or note what was seen."""
    candidates, noted = store.candidates, {"at": now.isoformat(), "paused": candidate.paused}
    seen = {LOOK: look.model_dump(mode="json") | noted}
    told = steps.Told(look.sentence, evidence=seen)
    match look.verdict:
        case Verdict.ROLL_BACK:
            candidates.move(steps.back(candidate, predecessor(candidates, candidate), told), now)
        case Verdict.NEXT_SHARE | Verdict.PROMOTE:
            _forward(store, candidate, plan, now, told)
        case Verdict.PAUSE:
            candidates.note(candidate.number, seen | {PAUSED: {"by": "whet", "why": look.sentence}})
            candidates.pause(candidate.number, True, "whet", look.sentence, now)
        case Verdict.BEGIN_AGAIN:
            again = steps.begins_again(candidate, now, in_production(store, candidate.agent))
            candidates.note(candidate.number, seen | again, look.sentence)
        case Verdict.SETTLED:
            settled = {"at": now.isoformat(), "since": _since(candidate)}
            candidates.note(candidate.number, seen | {SETTLED: settled}, look.sentence)
        case Verdict.WAIT:
            candidates.note(candidate.number, seen)


def _forward(store: Store, candidate: Candidate, plan: Plan, now: datetime, told: steps.Told) -> None:
    share, against = plan.after(candidate.share), in_production(store, candidate.agent)
    if share is None:
        store.candidates.move(steps.to_production(candidate, against, now, told), now)
    else:
        store.candidates.move(steps.to_canary(candidate, share, against, now, told), now)
