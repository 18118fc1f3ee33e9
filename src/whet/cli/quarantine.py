"""whet quarantine: tests that run and report, and whose failures do not make a run red."""

from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path

import click

from whet.bootstrap.site import Site, open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, say, table
from whet.core.errors import WhetError
from whet.core.sheets import Sheets
from whet.core.text import printable
from whet.tools.process import Limits
from whet.tools.suite import Suite

_COLLECT_SECONDS = 600.0
_MOST_NEAR = 5


@click.group()
def quarantine() -> None:
    """Tests whose failures `pytest --whet` and `whet run` report and do not count.

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
    site = open_site(project)
    unsure = _refuse_unknown(site, test)
    with site.store() as store:
        store.sheets.quarantine(test, reason or "no reason given")
    say(f"{test} is in quarantine. It runs with the others; its failures are told and do not count.")
    if unsure is not None:
        say(f"Whether there is such a test is not known: {unsure}")


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


def _refuse_unknown(site: Site, test: str) -> str | None:
    """What matches nothing would have no effect. A sentence where pytest could not tell which tests there are."""
    if site.visited:
        with site.store() as store:
            if test in _ran_last(store.sheets):
                return None
    with Suite(site.project, site.python) as suite:
        found = suite.collect(Limits(timeout_seconds=_COLLECT_SECONDS))
    if test in found.ids:
        return None
    if (problem := found.problem()) is not None:
        return problem
    near = ", ".join(printable(name, 200) for name in _near(test, found.ids))
    remedy = f"Did you mean: {near}?" if near else "pytest --collect-only -q lists the tests."
    raise WhetError(f"There is no test {printable(test, 200)!r} in this project.", remedy)


def _ran_last(sheets: Sheets) -> set[str]:
    newest = (sheets.latest(complete=True), sheets.latest())
    return {test for sheet in newest if sheet is not None for test in sheet.tests}


def _near(test: str, tests: Collection[str]) -> list[str]:
    """Its parameter sets or methods, those whose id ends so (pytest was started further down), or the most alike."""
    inside = [each for each in tests if each.startswith((f"{test}[", f"{test}::"))]
    ending = [each for each in tests if each.endswith((f"/{test}", f"::{test.rpartition('::')[2]}"))]
    return (inside or ending or get_close_matches(test, tests, n=_MOST_NEAR))[:_MOST_NEAR]
