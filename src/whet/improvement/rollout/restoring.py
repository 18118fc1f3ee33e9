"""Who decides again when the one in production goes back."""

from datetime import datetime

from whet.core.candidates import Candidate, Candidates, Stage
from whet.improvement.rollout.steps import RESTORES, Told, begun, last_begun, to_production


def predecessor(candidates: Candidates, candidate: Candidate) -> int | None:
    """Whom it replaced in production, if that one can still come back; None: the policy that settings choose."""
    noted = begun(candidate)
    if candidate.stage is not Stage.PRODUCTION or noted is None or noted.against is None:
        return None
    before = candidates.get(noted.against)
    return before.number if before is not None and before.stage is Stage.RETIRED else None


def bring_back(candidates: Candidates, agent: str, now: datetime, by: str = "whet") -> None:
    """Finish what rollbacks began. Until then the policy of the settings decides, so nothing bad waits for it."""
    for gone in candidates.at_stage(agent, Stage.ROLLED_BACK):
        owed = gone.evidence.get(RESTORES, {"done": True})
        if not owed["done"] and _restored(candidates, gone, owed["number"], now, by):
            candidates.note(gone.number, {RESTORES: {**owed, "done": True}})


def _restored(candidates: Candidates, gone: Candidate, number: int, now: datetime, by: str) -> bool:
    """True as well when there is nothing left to do: somebody else took over, or it cannot come back any more."""
    before = candidates.get(number)
    if candidates.at_stage(gone.agent, Stage.PRODUCTION) or before is None or before.stage is not Stage.RETIRED:
        return True
    why = f"candidate {number} is in production again: candidate {gone.number}, which had replaced it, went back"
    noted = last_begun(before)
    step = to_production(before, None if noted is None else noted.against, now, Told(why, by))
    return candidates.move(step, now) is not None
