"""What was ingested, given its canonical names, stored and told."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.progress import Progress

from whet.bootstrap.site import Site, open_site
from whet.cli.output import dump, say
from whet.core.sheets import FAILURES, Added, Sheet, Sheets
from whet.core.text import printable
from whet.skills.ordering.identity import Naming
from whet.tools.results import Reading


def keep(reading: Reading, project: Path, branch: str | None, dry_run: bool, progress: Progress) -> dict[str, Any]:
    """Stores the runs, all or none, and says what they were."""
    site = open_site(project)
    with _kept(site, dry_run) as kept:
        sheets = reading.sheets(_naming(site, kept), branch)
        if kept is None or dry_run:
            added = _compared(sheets, kept)
        else:
            added = kept.add(progress.track(sheets, description="storing runs"))
    return _summary(reading, sheets, added, dry_run)


@contextmanager
def _kept(site: Site, dry_run: bool) -> Iterator[Sheets | None]:
    """None: nothing is stored yet, and a dry run does not begin it."""
    if dry_run and not site.visited:
        yield None
        return
    with site.store() as store:
        yield store.sheets


def _naming(site: Site, kept: Sheets | None) -> Naming:
    latest = (kept.latest(complete=True) or kept.latest()) if kept else None
    root = site.project.root
    return Naming(
        known=latest.tests if latest else (),
        modules=[file.relative_to(root).as_posix() for file in site.project.test_files()],
    )


def _compared(sheets: list[Sheet], kept: Sheets | None) -> Added:
    known = {sheet.id for sheet in kept.read()} if kept else set()
    new = [sheet for sheet in sheets if sheet.id not in known]
    return Added(len(new), sum(len(sheet.tests) for sheet in new), len(sheets) - len(new))


def _summary(reading: Reading, sheets: list[Sheet], added: Added, dry_run: bool) -> dict[str, Any]:
    return {
        "stored": not dry_run,
        "files": reading.files,
        "runs": len(sheets),
        "results": sum(len(sheet.tests) for sheet in sheets),
        "tests": len({test for sheet in sheets for test in sheet.tests}),
        "failing_runs": sum(1 for sheet in sheets if not FAILURES.isdisjoint(sheet.outcomes)),
        "first_at": sheets[0].at.isoformat() if sheets else None,
        "last_at": sheets[-1].at.isoformat() if sheets else None,
        "runs_by_source": dict(Counter(sheet.source for sheet in sheets)),
        "new_runs": added.sheets,
        "new_results": added.results,
        "known_runs": added.known,
        "runs_dated_by_file": reading.dated_by_file,
        "left_out_results": {why: count for why, count in reading.left_out_results.items() if count},
        "left_out_files": dict(reading.left_out_files),
        "refused_files": [{"file": refusal.file, "why": refusal.why} for refusal in reading.refused],
    }


def tell(told: dict[str, Any], form: str) -> None:
    if form == "json":
        dump(told)
        return
    sources = ", ".join(f"{count} {source}" for source, count in told["runs_by_source"].items()) or "none"
    say(f"Read {told['runs']:,} run(s) ({sources}) from {told['files']:,} file(s): {told['results']:,} results")
    say(f"of {told['tests']:,} tests, {told['failing_runs']:,} run(s) with a failure{_span(told)}.")
    verb = "Stored" if told["stored"] else "Would store"
    new = f"{told['new_runs']:,} new run(s) with {told['new_results']:,} results"
    say(f"{verb} {new}; {told['known_runs']:,} known already.")
    for note in _notes(told):
        say(note)


def _span(told: dict[str, Any]) -> str:
    return f", from {told['first_at'][:10]} to {told['last_at'][:10]}" if told["first_at"] else ""


def _notes(told: dict[str, Any]) -> Iterator[str]:
    if told["runs_dated_by_file"]:
        yield f"{told['runs_dated_by_file']:,} run(s) state no time: dated by when their file was written."
    for why, count in told["left_out_results"].items():
        yield f"Left out: {count:,} result(s) {why}."
    for what, count in told["left_out_files"].items():
        yield f"Passed by: {count:,} file(s) with {what}."
    for refusal in told["refused_files"]:
        yield f"Refused: {printable(refusal['file'], 300)} {printable(refusal['why'])}."
