"""whet run: one visit of the fleet."""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from whet.agents.flaky import verdicts_of
from whet.bootstrap import assembly
from whet.bootstrap.site import Site, open_site
from whet.bootstrap.visiting_fleet import alone, visit
from whet.cli.options import format_option
from whet.cli.output import dump, say, table
from whet.cli.progress import Narrator
from whet.core.errors import WhetError
from whet.core.events import Event, Experienced, Warned
from whet.core.ports import RunRecord
from whet.core.records import Decision, Finding, State
from whet.reports import github
from whet.reports.compose import compose, settled, why
from whet.reports.html import render_html
from whet.reports.jsonout import as_json
from whet.reports.junit import render_junit
from whet.reports.model import RunReport
from whet.reports.terminal import print_report
from whet.reports.words import percent
from whet.store.sql_store import SqlStore, open_store
from whet.tools.suite import Suite
from whet.tools.workplace import Workplace

# pytest's codes for "could not work": interrupted, internal error, usage error, no tests.
_PYTEST_TROUBLE = frozenset({2, 3, 4, 5})
# As shells count a program ended by Ctrl-C.
INTERRUPTED = 130


@click.command()
@click.argument("project", type=click.Path(path_type=Path), default=Path())
@click.option("--minutes", type=float, help="Budget of this visit.  [default: 10]")
@click.option("--dry-run", is_flag=True, help="Only say what each agent would do now; run and store nothing.")
@click.option("--seed", type=int, help="Make the visit's choices repeatable.")
@click.option("--python", help="The interpreter that runs the tests; default: the project's own.")
@click.option("--junit", type=click.Path(path_type=Path), help="Write test results as JUnit XML to this file.")
@click.option("--html", type=click.Path(path_type=Path), help="Where the report goes.  [default: .whet/report.html]")
@click.option(
    "--fail-on",
    type=click.Choice(["any", "failing", "never"]),
    default="any",
    show_default=True,
    help="Which findings make the exit code 1: any, failing tests only, or none.",
)
@format_option()
def run(
    project: Path,
    minutes: float | None,
    dry_run: bool,
    seed: int | None,
    python: str | None,
    junit: Path | None,
    html: Path | None,
    fail_on: str,
    form: str,
) -> None:
    """Visit PROJECT (default: here): run its tests, measure, find, and learn from the outcome.

    \b
    Needs no configuration. Examples:
      whet run                        in a project with a pytest suite
      whet run ../shop --minutes 3    somewhere else, for three minutes
      whet run --format json          for programs; progress goes to standard error
      whet run --junit results.xml    for CI; GitHub annotations come by themselves
    """
    site = open_site(project, minutes=minutes, seed=seed, python=python)
    if dry_run:
        _plan(site, form)
        return
    with alone(site) as store:
        report, place = _visit(site, store, fail_on)
        page = html or site.state_dir / "report.html"
        _write(page, render_html(report))
        if junit is not None:
            flaky = {line.test for line in report.flaky if line.probability and line.probability >= 0.95}
            _write(junit, render_junit(list(place.executed.values()), suite=report.project, flaky=flaky))
    _tell(report, form, page)
    sys.exit(report.exit_code)


def _visit(site: Site, store: SqlStore, fail_on: str) -> tuple[RunReport, Workplace]:
    news: list[Finding] = []
    with Narrator() as narrator:

        def hear(event: Event) -> None:
            narrator.hear(event)
            if isinstance(event, Experienced):
                news.extend(event.findings)

        place, record, interrupted = visit(site, store, hear, _require_tests)
        counted, held = _counted(store, record)
        quarantine = [f"In quarantine, told and not counted: {', '.join(held)}."] if held else []
        for why_not in (*place.obstacles.values(), *quarantine):
            narrator.hear(Warned(why_not))
    code = INTERRUPTED if interrupted else _exit_code(store, record, counted, fail_on)
    fresh = frozenset(finding.fingerprint() for finding in news)
    verdicts = verdicts_of(store.history, site.project, place.code_version).values()
    return compose(store, record, fresh, place.records(), verdicts, site.python, code), place


def _require_tests(place: Workplace) -> None:
    """Without a single test to run there is nothing to visit; pytest's own exit code says why."""
    problem = place.collection.problem()
    if problem is not None:
        error = WhetError(problem)
        error.exit_code = place.collection.exit_code or 2
        raise error


def _counted(store: SqlStore, record: RunRecord) -> tuple[list[Finding], list[str]]:
    """The findings that make a visit red, and the tests in quarantine that others are about."""
    held, found = store.sheets.quarantined(), settled(store, record)
    return [one for one in found if one.test not in held], sorted({one.test for one in found if one.test in held})


def _exit_code(store: SqlStore, record: RunRecord, counted: Sequence[Finding], fail_on: str) -> int:
    lived = store.experiences.recent("test-executor", 1, record.id)
    ended = lived[0].outcome.get("exit_code") if lived else None
    if isinstance(ended, int) and ended in _PYTEST_TROUBLE:
        return ended
    kinds = {finding.kind for finding in counted}
    if fail_on == "failing":
        kinds &= {"failing-test", "suite-problem"}
    return 1 if kinds and fail_on != "never" else 0


def _plan(site: Site, form: str) -> None:
    with _looking(site) as store, Suite(site.project, site.python) as suite:
        seed = assembly.new_seed(site.settings)
        place = assembly.workplace(site, store, suite, seed, lambda _event: None)
        _require_tests(place)
        decisions = assembly.fleet(site, store, seed, warn=lambda told: click.echo(told, err=True)).plan(place)
    if form == "json":
        dump([_planned(state, decision) for state, decision in decisions])
        return
    rows = [(d.agent, d.action, percent(d.confidence), why(d)) for _, d in decisions]
    table("What each agent would do now (nothing was run)", ("agent", "action", "confidence", "why"), rows)


@contextmanager
def _looking(site: Site) -> Iterator[SqlStore]:
    """The project's store; before the first visit an empty one that leaves no trace."""
    if site.visited:
        with site.store() as store:
            yield store
        return
    with tempfile.TemporaryDirectory() as folder, open_store(f"sqlite:///{folder}/whet.db") as store:
        yield store


def _planned(state: State, decision: Decision) -> dict[str, object]:
    return {"state": state.model_dump(mode="json"), "decision": decision.model_dump(mode="json"), "why": why(decision)}


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WhetError(f"{path} cannot be written: {error.strerror}.", "Choose another file.") from error


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        click.echo(f"whet: the step summary could not be written: {error.strerror}", err=True)


def _tell(report: RunReport, form: str, page: Path) -> None:
    if form == "json":
        dump(as_json(report))
    else:
        print_report(report)
        say(f"\nReport: {page}   Why: whet explain   Next visit: whet run")
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        _append(Path(summary), github.step_summary(report))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in github.annotations(report):
            click.echo(line, err=form == "json")
