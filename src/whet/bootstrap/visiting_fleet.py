"""One visit of the fleet, whoever sends it: alone in the project, remembered, and ended in good order."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from whet.bootstrap import assembly
from whet.bootstrap.feedback import Listener
from whet.bootstrap.remembering import FleetMemory, opened_memory
from whet.bootstrap.site import Site, make_state_dir
from whet.bootstrap.visiting_killed import LOOKED_AT_RUNS, mark_interrupted
from whet.core.events import Event, Experienced, Warned
from whet.core.ports import RunRecord, Store
from whet.fleet.loop import Fleet
from whet.memory.remembering_episodes import Seen
from whet.store.sql_store import SqlStore
from whet.tools.lock import exclusive
from whet.tools.suite import Suite
from whet.tools.workplace import Workplace

Hear = Callable[[Event], None]


class Visited(NamedTuple):
    """`interrupted`: the user broke it off. What was known by then is told all the same."""

    place: Workplace
    record: RunRecord
    interrupted: bool


@contextmanager
def alone(site: Site) -> Iterator[SqlStore]:
    """The project's store, for the only visit there is."""
    make_state_dir(site.state_dir)
    with exclusive(site.state_dir / "run.lock"), site.store() as store:
        if site.embedded:
            mark_interrupted(store)
        Listener(store, site.settings).catch_up()  # false alarms that were raised again teach again
        yield store


def visit(site: Site, store: SqlStore, hear: Hear, require: Callable[[Workplace], None]) -> Visited:
    """`require` raises what makes a visit of this place pointless."""
    seed = assembly.new_seed(site.settings)
    with Suite(site.project, site.python) as suite:
        place = assembly.workplace(site, store, suite, seed, _rescuing(site, store, hear))
        require(place)
        _remember(site, store, hear, lambda memory: memory.catch_up())  # what a visit that was killed left
        fleet = assembly.fleet(site, store, seed, warn=lambda told: place.emit(Warned(told)))
        interrupted = _live(fleet, place)
        _remember(site, store, hear, lambda memory: memory.tend(seen=seen(fleet, place)))
        site.rescue(store)
    record = next(run for run in store.runs.recent(LOOKED_AT_RUNS) if run.id == place.run_id)
    return Visited(place, record, interrupted)


def seen(fleet: Fleet, place: Workplace) -> Seen:
    return Seen(place.said, {} if fleet.memory is None else fleet.memory.turned)


def _live(fleet: Fleet, place: Workplace) -> bool:
    try:
        fleet.run(place)
    except KeyboardInterrupt:
        return True
    return False


def _rescuing(site: Site, store: SqlStore, hear: Hear) -> Hear:
    def heard(event: Event) -> None:
        hear(event)
        if isinstance(event, Experienced) and site.rescue(store):
            hear(Warned("The suite deleted Whet's files (.whet); they were written back."))

    return heard


def _remember(site: Site, store: Store, hear: Hear, how: Callable[[FleetMemory], object]) -> None:
    """Beside the visit: what cannot be remembered now is remembered by the next."""
    try:
        if (memory := opened_memory(site, store)) is not None:
            how(memory)
    except Exception as error:  # memory never ends a visit
        hear(Warned(f"What happened could not be remembered yet: {error}"))
