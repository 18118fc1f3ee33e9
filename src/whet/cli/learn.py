"""whet learn: yesterday's runs become a better policy, if it is one."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

import click

from whet.bootstrap.site import Site, open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say
from whet.core.text import printable, printable_lines

if TYPE_CHECKING:
    from whet.improvement.pipeline import Told

T = TypeVar("T")


@click.command()
@click.option("--watch", is_flag=True, help="Go on looking, every [learn] check_seconds, until Ctrl-C.")
@click.option("--now", "at_once", is_flag=True, help="Train with what waits, without waiting for more or for the hour.")
@click.option("--status", is_flag=True, help="Only tell what there is, what it waits for, and whether it has settled.")
@project_option()
@format_option()
def learn(watch: bool, at_once: bool, status: bool, project: Path, form: str) -> None:
    """Collect, filter, train, prove, roll out: everything that is due, once.

    \b
    A policy trained from what runs showed reaches 10 %, 50 %, 100 % of the decisions by itself, only if it is
    better, and goes back by itself if it is not. Look and steer:
      whet learn --status         what waits, what was refused, drift, convergence
      whet models                 candidates: where they stand, and why
      whet models 12              everything that is known of one
      whet compare 12 production  side by side
      whet promote 12             whet rollback 12      whet pause 12
    Settings: [tool.whet.learn] and [tool.whet.production], see docs/learn.md.
    """
    site = open_site(project)
    if status or not watch:
        require_visit(site)
    if status:
        from whet.cli.learn_status import tell_status

        tell_status(site, form)
        return
    with _until_stopped() as stopped:
        if not watch:
            _tick(site, at_once, form)
        while watch and not stopped.is_set():
            look(site, at_once, form)
            stopped.wait(site.settings.learn.check_seconds)


def look(site: Site, at_once: bool, form: str) -> None:
    """What cannot be done now may be possible at the next look: a service tells, and goes on."""
    from whet.core.errors import WhetError

    try:
        if site.visited:
            _tick(site, at_once, form)
        else:
            click.echo("Whet has not visited this project yet, so there is nothing to learn from.", err=True)
    except (WhetError, OSError) as error:
        click.echo(f"whet: {printable_lines(str(error))}", err=True)
    except click.ClickException:  # nobody hears it
        raise
    except Exception as error:  # of one agent's candidate, perhaps; those of the others are watched all the same
        told = printable_lines(f"{type(error).__name__}: {error}")
        click.echo(f"whet: internal error, please report it: {told}\nWHET_DEBUG=1 whet learn shows where.", err=True)


def _tick(site: Site, at_once: bool, form: str) -> None:
    from whet.bootstrap.learning import FOLDER, pipeline
    from whet.improvement.intake.trigger import Rule
    from whet.tools.lock import exclusive

    now = datetime.now(UTC)
    with site.store() as store, exclusive(site.state_dir / f"{FOLDER}.lock"):
        with pipeline(site, store, Rule(1, 0.0) if at_once else None) as learning:
            told: list[Told] = []
            try:
                for each in learning.tick(now):
                    told.append(each)
                    if form == "text":
                        _aloud(say, f"{each.phase.value:>8}  {printable(each.sentence, 400)}")
            finally:  # what was done is told, although something else could not be
                if form == "json":
                    _aloud(dump, {"at": now.isoformat(), "steps": [_step(each) for each in told]})
        if form == "text" and not told:
            _aloud(say, "Nothing is due: no new experiences, and no candidate to look at. They come from: whet run")


def _aloud(tell: Callable[[T], None], told: T) -> None:
    """Who is not heard ends: it is no trouble of a tick, after which a service would go on."""
    try:
        tell(told)
        sys.stdout.flush()
    except OSError as error:
        raise click.ClickException(f"The standard output cannot be written: {error}") from error


def _step(told: "Told") -> dict[str, object]:
    return {"phase": told.phase.value, "candidate": told.candidate, "told": told.sentence}


@contextmanager
def _until_stopped() -> Iterator[threading.Event]:
    """A signal ends the waiting, not the step at work: what is begun is finished, or done again next time."""
    stopped = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
