"""whet quarantine: tests that run and report, and whose failures do not make a run red."""

from pathlib import Path

import click

from whet.bootstrap.site import open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, say, table
from whet.core.errors import WhetError


@click.group()
def quarantine() -> None:
    """Tests whose failures `pytest --whet` reports and does not count.

    For tests that fail and pass on the same code, until somebody mends them. They still run;
    --whet-strict-quarantine counts their failures as any other's.
    """


@quarantine.command()
@click.argument("test")
@click.option("--reason", default="", help="Why; shown wherever its failures are.")
@project_option()
def add(test: str, reason: str, project: Path) -> None:
    """Put TEST (its pytest id) into quarantine."""
    if "::" not in test:
        raise WhetError(f"{test!r} is no test's id.", "Copy it from pytest -v, such as tests/test_cart.py::test_total.")
    with open_site(project).store() as store:
        store.sheets.quarantine(test, reason or "no reason given")
    say(f"{test} is in quarantine. It runs with the others; its failures are told and do not count.")


@quarantine.command()
@click.argument("test")
@project_option()
def remove(test: str, project: Path) -> None:
    """Let TEST's failures count again."""
    with open_site(project).store() as store:
        released = store.sheets.release(test)
    if not released:
        raise WhetError(f"{test!r} is not in quarantine.", "whet quarantine list shows what is.")
    say(f"{test} counts again.")


@quarantine.command(name="list")
@project_option()
@format_option()
def show(project: Path, form: str) -> None:
    """What is in quarantine, and why."""
    site = open_site(project)
    held: dict[str, str] = {}
    if site.visited:
        with site.store() as store:
            held = store.sheets.quarantined()
    if form == "json":
        dump({"quarantined": [{"test": test, "reason": reason} for test, reason in sorted(held.items())]})
    elif held:
        table("In quarantine", ("test", "reason"), sorted(held.items()))
    else:
        say("Nothing is in quarantine.")
