"""whet audit: what was decided, learned and overruled, in a chain nobody can quietly change."""

from pathlib import Path

import click

from whet.bootstrap.site import open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say, table


@click.group()
def audit() -> None:
    """The audit trail: every decision, override and learning step, hash-chained."""


@audit.command()
@project_option()
@click.option("--expect", metavar="HEAD", help="A head noted earlier; finds a trail set back to an older state.")
@format_option()
def verify(project: Path, expect: str | None, form: str) -> None:
    """Check the whole chain. Exit code 1 when it was edited, shortened or forged."""
    site = open_site(project)
    require_visit(site)
    with site.store() as store:
        report = store.audit.verify(expect)
    if form == "json":
        dump(report.model_dump(mode="json"))
    elif report.problem:
        say(f"BROKEN after {report.entries} entries: {report.problem}")
    else:
        seal = "sealed with a key" if report.keyed else "not keyed: shows accidents, not a forger with write access"
        say(f"Intact: {report.entries} entries, {seal}.\nHead: {report.head}")
    raise SystemExit(1 if report.problem else 0)


@audit.command()
@project_option()
@click.option("--limit", default=20, show_default=True)
@format_option()
def log(project: Path, limit: int, form: str) -> None:
    """The newest entries."""
    site = open_site(project)
    require_visit(site)
    with site.store() as store:
        entries = store.audit.entries(limit)
    if form == "json":
        dump([e.model_dump(mode="json") for e in entries])
        return
    rows = [(e.seq, f"{e.at:%Y-%m-%d %H:%M:%S}", e.kind, e.subject, e.digest[:12]) for e in entries]
    table("Audit trail, newest first", ("#", "when (UTC)", "what", "of", "digest"), rows)
