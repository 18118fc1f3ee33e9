"""Sends errands for the tools that start the project's own code."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from whet.bootstrap.site import open_site
from whet.bootstrap.visiting_killed import mark_interrupted
from whet.core.errors import WhetError
from whet.mcp.answers import RunOutcome
from whet.mcp.errand import COLLECT_SECONDS
from whet.mcp.errands import Errand, Progress, Told, sent

# A visit keeps its own budget; whoever does not, by a hang outside of the suite say, is ended this much later.
GRACE_SECONDS = 30.0


async def collect(root: Path, report: Progress) -> Sequence[str]:
    errand = Errand(["collect", str(root)], root, COLLECT_SECONDS + GRACE_SECONDS)
    told = await sent(errand, errand.work, report)
    if told.result is None:
        raise WhetError(told.error or "pytest collected nothing.")
    return list(told.result["tests"])


async def run_agent(root: Path, agent: str, minutes: float, report: Progress) -> RunOutcome:
    errand = Errand(["run", str(root), agent, repr(minutes)], root, minutes * 60 + GRACE_SECONDS)
    told = await sent(errand, lambda: _concluded(root, errand), report)
    if told.result is None:
        raise WhetError(told.error or f"{agent} answered nothing.")
    return RunOutcome.model_validate(told.result)


def _concluded(root: Path, errand: Errand) -> Told:
    """A run that was broken off is marked so."""
    told = errand.work()
    if told.result is None and told.run_id is not None:
        with suppress(WhetError), open_site(root).store() as store:  # if not now, the next visit marks it
            mark_interrupted(store, told.run_id)
    return told
