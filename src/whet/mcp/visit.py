"""One specialist sent to the project, as `whet run` sends the whole crew."""

from collections.abc import Callable
from pathlib import Path

from whet.agents.catalogue import agent_named
from whet.bootstrap import assembly
from whet.bootstrap.remembering import opened_memory
from whet.bootstrap.site import Site, make_state_dir, open_site
from whet.core.errors import RefusedInput, WhetError
from whet.core.events import Decided, Event, Experienced, Progressed, RunStarted, Warned
from whet.core.ports import Store
from whet.mcp.answers import RunOutcome
from whet.mcp.interrupting import mark_interrupted
from whet.mcp.quoting import named, sentence
from whet.mcp.telling import told_run
from whet.store.sql_store import SqlStore
from whet.tools.lock import exclusive
from whet.tools.suite import Suite

_LOOKED_AT_RUNS = 20


def visit(
    root: Path, agent: str, minutes: float, progress: Callable[[str], None], started: Callable[[str], None]
) -> RunOutcome:
    """`started` is told the run's id, so that whoever breaks it off can say so in the store."""
    _in_the_crew(open_site(root), agent)
    site = open_site(root, agents=[agent], minutes=minutes)
    make_state_dir(site.state_dir)
    with exclusive(site.state_dir / "run.lock"), site.store() as store:
        if site.embedded:
            mark_interrupted(store)
        return _visited(site, store, agent, progress, started)


def _visited(
    site: Site, store: SqlStore, agent: str, progress: Callable[[str], None], started: Callable[[str], None]
) -> RunOutcome:
    seed, warnings = assembly.new_seed(site.settings), list[str]()

    def hear(event: Event) -> None:
        match event:
            case RunStarted():
                started(event.run_id)
            case Warned(message):
                warnings.append(message)
            case Experienced():
                site.rescue(store)
        told = _told(event)
        if told is not None:
            progress(told)

    with Suite(site.project, site.python) as suite:
        progress("collecting tests")
        place = assembly.workplace(site, store, suite, seed, hear)
        why_not = place.collection.problem() or agent_named(agent).obstacle(place)
        if why_not is not None:
            raise WhetError(why_not)
        assembly.fleet(site, store, seed, warn=lambda told: hear(Warned(told))).run(place)
        site.rescue(store)
        _remember(site, store, hear)
        run = next(r for r in store.runs.recent(_LOOKED_AT_RUNS) if r.id == place.run_id)
        return told_run(store, run, tuple(map(sentence, warnings)))


def _remember(site: Site, store: Store, hear: Callable[[Event], None]) -> None:
    """Beside the visit: what cannot be remembered now is remembered by the next."""
    try:
        if (memory := opened_memory(site, store)) is not None:
            memory.tend()
    except Exception as error:
        hear(Warned(f"What happened could not be remembered yet: {error}"))


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
