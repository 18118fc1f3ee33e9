"""whet doctor: what is there, what is missing, and how to get it."""

import stat
from collections.abc import Iterator
from pathlib import Path

import click

from whet.bootstrap.site import Site, open_site
from whet.cli.options import format_option
from whet.cli.output import dump, safe, table
from whet.core.errors import WhetError
from whet.settings.keys import unused_keys
from whet.tools import git

Check = tuple[str, str, str]  # what, state (ok | missing | note), detail


@click.command()
@click.argument("project", type=click.Path(path_type=Path), default=Path())
@format_option()
def doctor(project: Path, form: str) -> None:
    """Check what Whet needs to work in PROJECT. Exit code 1 when something it cannot do without is missing."""
    site = open_site(project)
    checks = list(_checks(site))
    if form == "json":
        dump([{"what": what, "state": state, "detail": detail} for what, state, detail in checks])
    else:
        table(f"Whet in {safe(site.project.root)}", ("what", "state", "detail"), checks)
    raise SystemExit(1 if any(state == "missing" for _, state, _ in checks) else 0)


def _checks(site: Site) -> Iterator[Check]:
    try:
        python = site.python
    except WhetError as error:
        yield "interpreter", "missing", str(error)
        return
    yield "interpreter", "ok", f"{python.path} (Python {python.version})"
    install = f"{python.path} -m pip install"
    for package, needed in (("pytest", True), ("coverage", False), ("pytest-xdist", False)):
        if python.has(package):
            yield package, "ok", python.packages[package]
        else:
            lost = {"coverage": "coverage gaps and risk", "pytest-xdist": "parallel runs"}.get(package, "everything")
            yield package, "missing" if needed else "note", f"without it no {lost}. Install it: {install} {package}"
    history = git.changes(site.project.root) is not None
    yield "git", "ok" if history else "note", "history is used" if history else "no git history here, or no git"
    yield _store(site)
    if site.embedded and site.visited and site.state_dir.stat().st_mode & stat.S_IRWXO:
        yield "privacy", "note", f"everybody on this machine may look into it: chmod o-rwx {site.state_dir}"
    for key in unused_keys(site.settings):
        yield "setting", "note", f"{key} is accepted but nothing uses it yet"


def _store(site: Site) -> Check:
    if not site.visited:
        return "store", "ok", "not visited yet; the first `whet run` makes .whet/whet.db"
    try:
        with site.store() as store:
            report = store.audit.verify()
            known = store.experiences.count()
    except WhetError as error:
        return "store", "missing", str(error)
    if report.problem:
        return "store", "missing", f"the audit trail is broken: {report.problem}"
    return "store", "ok", f"{known} experiences, audit trail intact ({report.entries} entries)"
