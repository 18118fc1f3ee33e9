"""What a person can do to a candidate, at any time. Each is in the audit trail under the name of who did it."""

from datetime import datetime
from typing import Any, NamedTuple

from whet.core.candidates import Candidate, Stage
from whet.core.errors import Busy, WhetError
from whet.core.ports import Store
from whet.improvement.rollout import steps
from whet.improvement.rollout.plan import Plan
from whet.improvement.rollout.restoring import bring_back, predecessor
from whet.improvement.rollout.sentences import percent
from whet.improvement.rollout.stepping import PAUSED, in_production, look_at
from whet.improvement.rollout.watching import Verdict

GATES, PROMOTION = "gates", "promotion"
_PROMOTABLE = (Stage.TRAINED, Stage.PROVEN, Stage.CANARY, Stage.RETIRED)
# From the first stage to production and once more for a step that somebody else took meanwhile.
_MOST_STEPS = 6


class Outlook(NamedTuple):
    """What a promotion would leave out; empty when the candidate is ready by itself."""

    candidate: Candidate
    gates: Any  # as the last proof left them; None: never tried
    skipped: tuple[str, ...]

    @property
    def forced(self) -> bool:
        return bool(self.skipped)


def outlook(store: Store, number: int, plan: Plan, now: datetime) -> Outlook:
    """To show before a person promotes; changes nothing."""
    candidate = _known(store, number)
    if candidate.stage not in _PROMOTABLE:
        raise WhetError(
            f"Candidate {number} is {candidate.stage.value} and cannot be promoted.",
            f"What can: candidates that are {', '.join(stage.value for stage in _PROMOTABLE)}.",
        )
    return Outlook(candidate, candidate.evidence.get(GATES), tuple(_skipped(store, candidate, plan, now)))


def promote(store: Store, number: int, by: str, plan: Plan, now: datetime) -> Candidate:
    """To production by legal steps only. A step that evidence does not call for is marked as forced."""
    seen = outlook(store, number, plan, now)
    _no_other_canary(store, seen.candidate)
    forced = f", by force, without {'; '.join(seen.skipped)}" if seen.forced else ""
    noted = {"by": by, "forced": seen.forced, "skipped": list(seen.skipped), "gates": seen.gates, "at": now.isoformat()}
    told = steps.Told(f"promoted by {by}{forced}", by, {PROMOTION: noted}, asked=True)
    candidate = seen.candidate
    for _ in range(_MOST_STEPS):
        if candidate.stage is Stage.PRODUCTION:
            return _let_go_on(store, candidate, told, now)
        candidate = _stepped(store, candidate, told, plan, now)
    raise _elsewhere(candidate)


def rollback(store: Store, number: int, by: str, why: str, now: datetime) -> Candidate:
    """Out of use. Whoever it replaced in production decides again, else the policy that settings choose."""
    candidate = _known(store, number)
    if candidate.stage not in (Stage.CANARY, Stage.PRODUCTION):
        raise WhetError(
            f"Candidate {number} is {candidate.stage.value}: it decides nothing that could be rolled back.",
            "Candidates that decide are canary or production.",
        )
    told = steps.Told(f"rolled back by {by}: {why}", by, asked=True)
    moved = store.candidates.move(steps.back(candidate, predecessor(store.candidates, candidate), told), now)
    bring_back(store.candidates, candidate.agent, now, by)
    return moved or _moved_meanwhile(candidate)


def pause(store: Store, number: int, by: str, why: str, now: datetime) -> Candidate:
    """It stays where it is, except that it still goes back by itself when it is worse."""
    candidate = _under_way(store, number)
    store.candidates.note(number, {PAUSED: {"by": by, "why": why}})
    return store.candidates.pause(number, True, by, f"paused by {by}: {why}", now) or candidate


def resume(store: Store, number: int, by: str, why: str, now: datetime) -> Candidate:
    """It goes on. What Whet itself paused begins its step again: what was measured there led nowhere."""
    candidate = _under_way(store, number)
    if not candidate.paused:  # said twice it would begin its step twice
        return candidate
    if candidate.evidence.get(PAUSED, {}).get("by") == "whet" and candidate.stage in (Stage.CANARY, Stage.PRODUCTION):
        against = in_production(store, candidate.agent)
        store.candidates.note(number, steps.begins_again(candidate, now, against), f"its step begins again, by {by}")
    return store.candidates.pause(number, False, by, f"resumed by {by}: {why}", now) or candidate


def _known(store: Store, number: int) -> Candidate:
    found = store.candidates.get(number)
    if found is None:
        raise WhetError(f"There is no candidate {number}.", "whet models lists those there are.")
    return found


def _under_way(store: Store, number: int) -> Candidate:
    """Why one that has ended did so must stay readable."""
    candidate = _known(store, number)
    if candidate.stage in (Stage.REJECTED, Stage.ROLLED_BACK):
        raise WhetError(
            f"Candidate {number} is {candidate.stage.value}: it goes nowhere any more, paused or not.",
            f"Why it ended: whet models {number}",
        )
    return candidate


def _skipped(store: Store, candidate: Candidate, plan: Plan, now: datetime) -> list[str]:
    if candidate.stage is Stage.RETIRED:
        return []
    gates = ["passing the gates"] if candidate.stage is Stage.TRAINED else []
    look = look_at(store, candidate, plan, now) if candidate.stage is Stage.CANARY else None
    if look is not None and look.verdict is Verdict.PROMOTE:
        return []
    ahead = [f"the step at {percent(share)}" for share in plan.shares if share > candidate.share]
    return [*gates, *ahead, "being better where it counts" + ("" if look is None else f" ({look.sentence})")]


def _no_other_canary(store: Store, candidate: Candidate) -> None:
    for other in store.candidates.at_stage(candidate.agent, Stage.CANARY):
        if other.number != candidate.number and candidate.stage is not Stage.RETIRED:
            raise Busy(
                f"Candidate {other.number} is the canary of {candidate.agent}.",
                f"Wait until it has gone on, or roll it back: whet rollback {other.number}",
            )


def _stepped(store: Store, candidate: Candidate, told: steps.Told, plan: Plan, now: datetime) -> Candidate:
    """One step nearer, or where somebody else has moved it."""
    against = in_production(store, candidate.agent)
    match candidate.stage:
        case Stage.TRAINED:
            step = steps.taken(candidate, Stage.PROVEN, 0.0, told)
        case Stage.PROVEN:
            step = steps.to_canary(candidate, plan.shares[0], against, now, told)
        case Stage.CANARY | Stage.RETIRED:
            step = steps.to_production(candidate, against, now, told)
        case _:
            raise _elsewhere(candidate)
    return store.candidates.move(step, now) or _known(store, candidate.number)


def _let_go_on(store: Store, candidate: Candidate, told: steps.Told, now: datetime) -> Candidate:
    if not candidate.paused:
        return candidate
    return store.candidates.pause(candidate.number, False, told.by, told.why, now) or candidate


def _moved_meanwhile(candidate: Candidate) -> Candidate:
    raise _elsewhere(candidate)


def _elsewhere(candidate: Candidate) -> Busy:
    return Busy(f"Candidate {candidate.number} was moved by somebody else meanwhile.", "Look at it again: whet models")
