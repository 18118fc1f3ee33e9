"""whet api: test a running service by its OpenAPI document, and learn from every answer."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from whet.bootstrap.api import Asked, Visit, prepare
from whet.bootstrap.site import open_site
from whet.cli.api_files import Files
from whet.cli.options import format_option, project_option
from whet.cli.output import say
from whet.core.errors import WhetError
from whet.core.text import printable
from whet.reports.api import github
from whet.reports.api.jsonout import render_json
from whet.reports.api.model import ApiReport
from whet.reports.api.terminal import print_report
from whet.reports.api.words import present
from whet.skills.api.access import parse_credential
from whet.skills.api.campaign import Budget
from whet.skills.api.oauth import parse_client
from whet.tools.http.messages import Headers

WRITING_FAILED, INTERRUPTED, TERMINATED = 2, 130, 143
_A_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("document")
@click.option("--url", help="Where the service is, with its base path; needed when DOCUMENT is a file.")
@click.option("--requests", type=click.IntRange(1), help="How many requests to send.  [default: 2000]")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), help="Stop after this long.")
@click.option("--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="Sent with every request.")
@click.option(
    "--auth",
    "credentials",
    multiple=True,
    metavar="HOW",
    help="bearer:TOKEN, basic:USER:PASSWORD, header:NAME=VALUE, query:NAME=VALUE, cookie:NAME=VALUE or "
    "oauth2:ID:SECRET; a secret may be env:VARIABLE. Without it, a login operation is looked for and used.",
)
@click.option("--only", multiple=True, metavar="TEXT", help="Only operations with this in METHOD /path, id or tag.")
@click.option("--exclude", multiple=True, metavar="TEXT", help="Leave out operations with this in them.")
@click.option("--safe", is_flag=True, help="Send no DELETE.")
@click.option("--rate", type=click.FloatRange(0, min_open=True), help="At most so many requests a second.")
@click.option("--timeout", type=click.FloatRange(0.1), default=10.0, show_default=True, help="Seconds for an answer.")
@click.option("--seed", type=click.IntRange(0), help="Make the run's choices repeatable.")
@click.option("--fresh", is_flag=True, help="Forget what earlier runs learned of this service, and start anew.")
@click.option("--write-tests", "tests", type=_A_PATH, metavar="DIR", help="A pytest file: red now, green when fixed.")
@click.option("--html", type=_A_PATH, help="Where the report goes.  [default: .whet/api.html]")
@click.option("--junit", type=_A_PATH, help="Write JUnit XML, a test case for each operation.")
@click.option("--sarif", type=_A_PATH, help="Write SARIF 2.1.0, for code scanning.")
@click.option("--fail-on", type=click.Choice(["any", "never"]), default="any", show_default=True,
              help="Whether findings make the exit code 1.")  # fmt: skip
@project_option()
@format_option()
def api(
    document: str,
    url: str | None,
    requests: int | None,
    minutes: float | None,
    headers: tuple[str, ...],
    credentials: tuple[str, ...],
    only: tuple[str, ...],
    exclude: tuple[str, ...],
    safe: bool,
    rate: float | None,
    timeout: float,
    seed: int | None,
    fresh: bool,
    tests: Path | None,
    html: Path | None,
    junit: Path | None,
    sarif: Path | None,
    fail_on: str,
    project: Path,
    form: str,
) -> None:
    """Test the service behind DOCUMENT, an OpenAPI document's address or file, and learn from every answer.

    \b
    It sends real requests and changes real data: point it at a service made for testing.
      whet api http://127.0.0.1:8000/openapi.json
      whet api http://127.0.0.1:8000 --requests 500 --safe      the document is looked for
      whet api openapi.yaml --url http://127.0.0.1:8000/v1 --auth bearer:env:TOKEN
      whet api http://127.0.0.1:8000 --write-tests tests/api --sarif api.sarif
    The next run on the same service starts from what this one learned: first it does again what
    worked and looks whether what was found is fixed, and it says what changed in the contract.
    Exit codes: 0 fine, 1 findings, 2 usage or internal error, 130 broken off (143 by SIGTERM).
    """
    site = open_site(project)
    budget = Budget(requests if requests or minutes else 2_000, None if minutes is None else minutes * 60)
    given = tuple(parse_credential(one) for one in credentials if not one.startswith("oauth2:"))
    oauth2 = next((parse_client(one) for one in credentials if one.startswith("oauth2:")), None)
    asked = Asked(
        document, url, budget, _headers(headers), given, oauth2, seed, only, exclude, safe, rate, timeout, fresh
    )  # fmt: skip
    files = Files(html or site.state_dir / "api.html", junit, sarif, tests, timeout)
    files.check()
    with _as_before(), site.store() as store:
        visit = prepare(asked, store.knowledge)
        try:
            broken_off = _run(visit)
        except Exception:  # a defect of ours must not cost what was learned and found until then
            visit.campaign.abandon()
            visit.remember(store.knowledge)
            raise
        visit.remember(store.knowledge)  # first: whoever asked for an end may not wait for pages
        report = visit.report(broken_off is not None)
    written = files.write(report)
    _tell(report, form, files, written)
    sys.exit(WRITING_FAILED if files.problems else broken_off or int(fail_on == "any" and bool(present(report.faults))))


def _headers(given: tuple[str, ...]) -> Headers:
    made = []
    for one in given:
        name, colon, value = one.partition(":")
        if not colon or not name.strip():
            raise WhetError(
                f"--header {one!r} is not of the form 'NAME: VALUE'.", "For example: --header 'X-Tenant: a'."
            )
        made.append((name.strip(), value.strip()))
    return tuple(made)


class _Terminated(KeyboardInterrupt):
    """SIGTERM: whoever runs us wants an end, and what was learned is worth keeping all the same."""


def _terminate(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # asked twice: it is ending, after what was found is told and kept
    raise _Terminated


@contextmanager
def _as_before() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _terminable() -> Iterator[None]:
    """Afterwards it ends by itself, and keeps what it learned before it does."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _run(visit: Visit) -> int | None:
    """The exit code when it was broken off: what was found by then is still told."""
    try:
        with _terminable(), _progress(visit) as bar:
            for _ in visit.campaign.turns():
                bar.show()
            bar.show("making sure of what was found")
            visit.campaign.conclude()
    except KeyboardInterrupt as ended:
        visit.campaign.abandon()
        return TERMINATED if isinstance(ended, _Terminated) else INTERRUPTED
    finally:
        visit.client.close()
    return None


class _Bar:
    """Operations reached, findings, budget: live on a terminal, a line now and then elsewhere."""

    def __init__(self, visit: Visit, console: Console) -> None:
        self._visit, self._console = visit, console
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self.live = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        budget = visit.asked.budget
        self._task = self.live.add_task("", total=budget.requests or (budget.seconds or 1.0))
        self._told = 0

    def show(self, what: str = "testing") -> None:
        campaign = self._visit.campaign
        requests, reached, found = campaign.progress()
        text = f"{what}: {reached} of {len(self._visit.operations)} operations reached, {found} suspected"
        done = requests if self._visit.asked.budget.requests else campaign.seconds
        self.live.update(self._task, description=escape(text), completed=done)
        if not self._console.is_terminal and requests >= self._told + 500:
            self._told = requests
            self._console.print(f"{requests} requests: {text}", markup=False)


@contextmanager
def _progress(visit: Visit) -> Iterator[_Bar]:
    console = Console(stderr=True, highlight=False)
    known = visit.before.runs
    start = f", starting from what {known} run{'s' * (known > 1)} learned" if known else ""
    title = printable(visit.contract.title, 80)
    console.print(
        f"{title} at {visit.origin}{visit.base_path}: {len(visit.operations)} operations{start}", markup=False
    )
    if visit.kept is not None and visit.kept.note is not None:
        console.print(printable(visit.kept.note, 400), markup=False)
    visit.gateway.hear = lambda said: console.print(said, markup=False)
    bar = _Bar(visit, console)
    with bar.live:
        yield bar


def _tell(report: ApiReport, form: str, files: Files, tests: Path | None) -> None:
    if form == "json":
        sys.stdout.write(render_json(report) + "\n")
    else:
        print_report(report)
        say(f"\nReport: {files.html}" + (f"\nTests: {tests}" if tests else ""))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in github.annotations(report):
            click.echo(line, err=form == "json")
        files.summarise(report)
    for problem in files.problems:
        click.echo(printable(problem, 1000), err=True)
