"""Which proven candidate becomes the canary."""

from collections.abc import Sequence
from datetime import datetime

from whet.core.candidates import Candidate, Candidates, Stage
from whet.improvement.rollout.plan import Plan
from whet.improvement.rollout.sentences import percent
from whet.improvement.rollout.steps import Told, taken, to_canary
from whet.improvement.rollout.watching import Look, Verdict


def start(candidates: Candidates, agent: str, plan: Plan, now: datetime) -> list[Look]:
    """The newest of those proven, when there is no canary and nobody paused the agent's rollout."""
    production = next(iter(candidates.at_stage(agent, Stage.PRODUCTION)), None)
    canary = next(iter(candidates.at_stage(agent, Stage.CANARY)), None)
    proven = [
        each for each in candidates.at_stage(agent, Stage.PROVEN) if not _superseded(candidates, each, production, now)
    ]
    if not proven:
        return []
    if not plan.unattended:
        return [_waiting(each, "a person has to promote it") for each in proven]
    obstacle = _obstacle([*proven, *(each for each in (canary, production) if each is not None)], canary)
    if obstacle is not None:
        return [_waiting(each, obstacle) for each in proven]
    first, *others = proven
    looks = [_waiting(each, f"candidate {first.number}, trained later, goes first") for each in others]
    return [*_started(candidates, first, production, plan, now), *looks]


def _obstacle(standing: Sequence[Candidate], canary: Candidate | None) -> str | None:
    paused = next((each for each in standing if each.paused), None)
    if paused is not None:
        return f"candidate {paused.number} is paused"
    return None if canary is None else f"candidate {canary.number} is the canary"


def _superseded(candidates: Candidates, candidate: Candidate, production: Candidate | None, now: datetime) -> bool:
    """It was proven against a policy that a later candidate has replaced; of that one the proof says nothing."""
    if production is None or production.number < candidate.number or candidate.paused:
        return False
    why = f"candidate {candidate.number} is superseded: candidate {production.number}, trained later, is in production"
    candidates.move(taken(candidate, Stage.REJECTED, 0.0, Told(why)), now)
    return True


def _started(
    candidates: Candidates, candidate: Candidate, production: Candidate | None, plan: Plan, now: datetime
) -> list[Look]:
    share, against = plan.shares[0], None if production is None else production.number
    why = f"candidate {candidate.number} is proven and goes to {percent(share)}"
    moved = candidates.move(to_canary(candidate, share, against, now, Told(why)), now)
    return [] if moved is None else [Look(number=candidate.number, verdict=Verdict.NEXT_SHARE, sentence=why)]


def _waiting(candidate: Candidate, obstacle: str) -> Look:
    sentence = f"candidate {candidate.number} is proven and waits: {obstacle}"
    return Look(number=candidate.number, verdict=Verdict.WAIT, sentence=sentence)
