"""One specialist sent to the project, as `whet run` sends the whole crew."""

from collections.abc import Callable
from pathlib import Path

from whet.agents.catalogue import agent_named
from whet.bootstrap.site import Site, open_site
from whet.bootstrap.visiting_fleet import alone
from whet.bootstrap.visiting_fleet import visit as fleet_visit
from whet.core.errors import RefusedInput, WhetError
from whet.core.events import Decided, Event, Progressed, RunStarted, Warned
from whet.mcp.answers import RunOutcome
from whet.mcp.quoting import named, sentence
from whet.mcp.telling import told_run
from whet.tools.workplace import Workplace


def visit(
    root: Path, agent: str, minutes: float, progress: Callable[[str], None], started: Callable[[str], None]
) -> RunOutcome:
    """`started` is told the run's id, so that whoever breaks it off can say so in the store."""
    _in_the_crew(open_site(root), agent)
    site = open_site(root, agents=[agent], minutes=minutes)
    warnings: list[str] = []

    def hear(event: Event) -> None:
        match event:
            case RunStarted():
                started(event.run_id)
            case Warned(message):
                warnings.append(message)
        told = _told(event)
        if told is not None:
            progress(told)

    def require(place: Workplace) -> None:
        why_not = place.collection.problem() or agent_named(agent).obstacle(place)
        if why_not is not None:
            raise WhetError(why_not)

    with alone(site) as store:
        progress("collecting tests")
        visited = fleet_visit(site, store, hear, require)
        if visited.interrupted:
            raise KeyboardInterrupt
        return told_run(store, visited.record, tuple(map(sentence, warnings)))


def _in_the_crew(site: Site, agent: str) -> None:
    """Settings may leave an agent out: that is the user's word."""
    allowed = site.settings.agents
    if allowed is not None and agent not in allowed:
        raise RefusedInput(
            f"The project's settings leave {agent} out.", f"Choose among: {', '.join(allowed)}; or change `agents`."
        )


def _told(event: Event) -> str | None:
    match event:
        case Decided(decision) if decision.agent != "fleet-commander":
            return f"{decision.agent} → {decision.action}"
        case Progressed():
            of = "" if event.total is None else f" of {event.total}"
            return named(f"{event.agent}: {event.what}, {event.done}{of} done, {event.failed} failed")
    return None
