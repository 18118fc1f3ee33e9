"""whet flaky: tests that pass and fail on the same code."""

from pathlib import Path

import click

from whet.agents.flaky import verdicts_of
from whet.bootstrap.site import open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say, table
from whet.reports.words import percent
from whet.skills.flakiness import FLAKY_AT, Verdict


@click.command()
@project_option()
@click.option("--all", "everything", is_flag=True, help="Also tests that are only suspected.")
@format_option()
def flaky(project: Path, everything: bool, form: str) -> None:
    """Tests that pass and fail on the same code, with how sure that is and likely causes.

    A verdict needs repeated executions of unchanged code; `whet run` makes them.
    """
    site = open_site(project)
    require_visit(site)
    with site.store() as store:
        version = site.project.code_version()
        known = verdicts_of(store.history, site.project, version)
    shown = sorted((v for v in known.values() if _shown(v, everything)), key=lambda v: -v.probability)
    if form == "json":
        dump(
            {"code_version": version, "tests_executed": len(known), "flaky": [v.model_dump(mode="json") for v in shown]}
        )
        return
    _tell(shown, known)


def _shown(verdict: Verdict, everything: bool) -> bool:
    return verdict.failures > 0 and (verdict.probability >= FLAKY_AT or everything)


def _tell(shown: list[Verdict], known: dict[str, Verdict]) -> None:
    if not known:
        say("No test has been executed on this version of the code yet. Run: whet run")
        return
    fewest = min(v.executions for v in known.values())
    if not shown:
        say(f"No flaky test among {len(known)}; each was executed at least {fewest} time(s) on this code.")
        return
    rows = [
        (v.test, percent(v.probability), f"{v.failures} of {v.executions}", ", ".join(h.cause for h in v.hints) or None)
        for v in shown
    ]
    table("Flaky tests on this code", ("test", "probability", "failed", "likely cause"), rows)
    for verdict in shown:
        for hint in verdict.hints:
            say(f"  {verdict.test.splitlines()[0][:100]!r}: {hint.cause}: {hint.because}")
