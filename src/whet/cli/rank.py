"""whet rank: the order in which the tests would run, with a reason for each."""

import sys
from pathlib import Path
from typing import Any

import click

from whet.bootstrap.lane import commit_named
from whet.bootstrap.ordering import Ordering, open_ordering
from whet.bootstrap.site import Site, open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, say, table
from whet.core.errors import WhetError
from whet.policies.deep.extra import TRAINING, require
from whet.skills.ordering import Goal, Ranked
from whet.tools.process import Limits
from whet.tools.suite import Suite

_COLLECT_SECONDS = 600.0


@click.command()
@click.argument("tests", nargs=-1)
@project_option()
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many.")
@click.option("--changed-since", metavar="REF", help="Judge nearness to what changed since this commit, branch or tag.")
@click.option("--budget", is_flag=True, help="As for a run that will not get to its end: the likeliest first.")
@click.option(
    "--cases",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Test cases instead, in the order that whet train --from FILE learned.",
)
@click.option("--service", metavar="URL", help="With --cases: execute them there, each chosen by the outcomes so far.")
@format_option()
def rank(
    tests: tuple[str, ...],
    project: Path,
    limit: int | None,
    changed_since: str | None,
    budget: bool,
    cases: Path | None,
    service: str | None,
    form: str,
) -> None:
    """The tests in the order that finds failures soonest, with why each stands where it does.

    Without TESTS the suite is collected by pytest; "-" reads ids from standard input, one per line, so that any
    runner's tests can be ordered. `pytest --whet` runs them in this order, as far as shared fixtures allow.

    \b
      whet rank --limit 10
      whet rank --changed-since main --format json
      pytest --collect-only -q | whet rank -
      whet rank --cases cases.json --service http://127.0.0.1:8000 --limit 20
    """
    site = open_site(project)
    if cases is not None or service is not None:
        _refuse_mixed(cases, bool(tests or changed_since or budget))
        _tell_cases(site, Path(str(cases)), service, limit, form)
        return
    named = list(dict.fromkeys(_given(tests) if tests else _collected(site)))
    since = None if changed_since is None else commit_named(site.project.root, changed_since)
    with open_ordering(site.project.root, since) as ordering:
        goal = Goal.BUDGET if budget else Goal.WHOLE_RUN
        ranked = ordering.rank(named, whole=not tests, goal=goal).ranked
        _tell(ordering, ranked, limit, form)


def _refuse_mixed(cases: Path | None, of_tests: bool) -> None:
    if cases is None:
        raise WhetError("Only test cases are executed against a service.", "Leave out --service, or give --cases FILE.")
    if of_tests:
        raise WhetError(
            "Either tests or test cases are put in order.", "With --cases, leave out tests, --changed-since, --budget."
        )


def _tell_cases(site: Site, cases: Path, service: str | None, limit: int | None, form: str) -> None:
    require("Ordering test cases", TRAINING)
    from whet.bootstrap.case_order import Placed, placed

    found = placed(site, cases, service, limit)
    if form == "json":
        dump({"schema_version": 1, "cases": [each._asdict() for each in found]})
        return
    rows = [each._replace(cause=each.cause or "") for each in found]
    table(f"{len(found)} cases, best first", Placed._fields, rows)


def _given(tests: tuple[str, ...]) -> list[str]:
    if tests != ("-",):
        return list(tests)
    lines = (line.strip() for line in sys.stdin)
    return [line for line in lines if line and not line[0].isdigit()]  # pytest ends its list with a count


def _collected(site: Site) -> tuple[str, ...]:
    with Suite(site.project, site.python) as suite:
        found = suite.collect(Limits(timeout_seconds=_COLLECT_SECONDS))
    if not found.ids:
        raise WhetError(found.problem() or "pytest collected no tests.", "Or give ids: whet rank - < ids.txt")
    return found.ids


def _tell(ordering: Ordering, ranked: list[Ranked], limit: int | None, form: str) -> None:
    shown = list(enumerate(ranked, start=1))[:limit]
    runs = ordering.orderer.sheets
    if form == "json":
        rows = [{"place": place, **one._asdict()} for place, one in shown]
        told: dict[str, Any] = {"branch": ordering.lane.branch, "runs": runs, "tests": rows, "notes": ordering.notes}
        dump(told)
        return
    columns = ("place", "test", "reason", "seconds")
    rows_shown = [(place, one.test, one.reason, one.expected_seconds) for place, one in shown]
    table(f"{len(ranked)} tests, best first; {runs} runs known", columns, rows_shown)
    for note in ordering.notes:
        say(f"Note: {note}.")
