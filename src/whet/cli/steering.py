"""whet promote, rollback, pause and resume: a person's word on a candidate."""

from datetime import UTC, datetime
from pathlib import Path

import click

from whet.bootstrap.site import open_site
from whet.cli.options import Decorator, project_option
from whet.cli.output import require_visit, say
from whet.cli.person import user
from whet.core.candidates import Candidate
from whet.core.text import printable


def _why_option() -> Decorator:
    return click.option("--why", default="no reason given", help="Kept in the audit trail.")


@click.command()
@click.argument("number", type=int)
@click.option("--yes", is_flag=True, help="Without asking, even where proof is missing.")
@project_option()
def promote(number: int, yes: bool, project: Path) -> None:
    """Put candidate NUMBER into production, or bring a retired one back.

    What it has not proven is shown first, and kept in the audit trail as forced.
    """
    from whet.bootstrap.learning import plan
    from whet.improvement.rollout.people import outlook
    from whet.improvement.rollout.people import promote as put

    site = open_site(project)
    require_visit(site, code=2)
    with site.store() as store:
        how, now = plan(site.settings), datetime.now(UTC)
        seen = outlook(store, number, how, now)
        for skipped in seen.skipped:
            say(f"It goes without {printable(skipped, 400)}.")
        if seen.forced and not yes:
            click.confirm(f"Put candidate {number} into production all the same?", abort=True)
        _tell(put(store, number, user(), how, now))


@click.command()
@click.argument("number", type=int)
@_why_option()
@project_option()
def rollback(number: int, why: str, project: Path) -> None:
    """Take candidate NUMBER out of use; whoever decided before it decides again."""
    from whet.improvement.rollout.people import rollback as put_back

    site = open_site(project)
    require_visit(site, code=2)
    with site.store() as store:
        _tell(put_back(store, number, user(), why, datetime.now(UTC)))


@click.command()
@click.argument("number", type=int)
@_why_option()
@project_option()
def pause(number: int, why: str, project: Path) -> None:
    """Keep candidate NUMBER where it is. It still goes back by itself when it is worse."""
    from whet.improvement.rollout.people import pause as hold

    site = open_site(project)
    require_visit(site, code=2)
    with site.store() as store:
        _tell(hold(store, number, user(), why, datetime.now(UTC)))


@click.command()
@click.argument("number", type=int)
@_why_option()
@project_option()
def resume(number: int, why: str, project: Path) -> None:
    """Let candidate NUMBER go on after a pause."""
    from whet.improvement.rollout.people import resume as let_go_on

    site = open_site(project)
    require_visit(site, code=2)
    with site.store() as store:
        _tell(let_go_on(store, number, user(), why, datetime.now(UTC)))


def _tell(candidate: Candidate) -> None:
    standing = f"{candidate.stage.value}{', paused' if candidate.paused else ''}"
    say(f"candidate {candidate.number} of {candidate.agent} is {standing}: {printable(candidate.why, 400)}")
