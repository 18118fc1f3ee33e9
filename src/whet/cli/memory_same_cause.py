"""whet memory same-cause: has this been seen before, perhaps in another test?"""

from pathlib import Path

import click

from whet.bootstrap.remembering import FleetMemory, fleet_memory
from whet.bootstrap.same_cause import follow, last_failure, same_cause_as_text
from whet.bootstrap.same_cause import same_cause as alike
from whet.bootstrap.site import Site, open_site
from whet.cli.memory_words import in_full, told
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say
from whet.core.errors import WhetError
from whet.core.memories import Memory, Recalled
from whet.core.records import now
from whet.core.text import printable
from whet.memory.failures_triage import failure_of

_LONGEST_FILE = 1_000_000


@click.command(name="same-cause", short_help="Which past failures have the same cause.")
@click.argument("failure", metavar="TEST|FILE")
@click.option(
    "--passed-at",
    metavar="COMMIT",
    help="Run TEST at this commit and now, and find where it first goes another way: the surest sign of a cause.",
)
@click.option("--seconds", default=120.0, show_default=True, type=click.FloatRange(1), help="For each of these runs.")
@click.option("--limit", default=5, show_default=True, type=click.IntRange(1, 100), help="How many at most.")
@project_option()
@format_option()
def same_cause(failure: str, passed_at: str | None, seconds: float, limit: int, project: Path, form: str) -> None:
    """Remembered failures that are likely to have the cause of one at hand, the likeliest first.

    \b
    TEST is a test whose last failure is remembered, FILE holds what pytest printed (-: standard input):
      whet memory same-cause tests/test_cart.py::test_total
      whet memory same-cause tests/test_cart.py::test_total --passed-at HEAD~1
      pytest tests/test_cart.py | whet memory same-cause -
    """
    site = open_site(project)
    require_visit(site, empty={"turned": None, "same_cause": []} if form == "json" else None)
    if passed_at is not None and "::" not in failure:
        raise click.UsageError("--passed-at needs a TEST, such as tests/test_cart.py::test_total")
    with site.store() as store:
        memory = fleet_memory(site, store)
        if site.settings.memory.enabled:
            memory.catch_up()
        known = _remembered(site, memory, failure, passed_at, seconds) if "::" in failure else None
        text = _read(failure) if known is None else ""
        found = same_cause_as_text(memory, text, limit) if known is None else alike(memory, known, limit)
        memory.memories.note_use([each.memory.id for each in found], now())
    _tell(known, found, form)


def _remembered(site: Site, memory: FleetMemory, test: str, passed_at: str | None, seconds: float) -> Memory:
    known = last_failure(memory, test)
    return known if passed_at is None else follow(site, memory, known, test, passed_at, seconds)


def _read(name: str) -> str:
    try:
        with click.open_file(name, encoding="utf-8", errors="replace") as file:
            text: str = file.read(_LONGEST_FILE)
    except OSError as error:
        raise WhetError(
            f"{printable(name, 200)!r} cannot be read: {error.strerror}.",
            "Give the name of a test (tests/test_cart.py::test_total), or a file that holds what pytest printed.",
        ) from error
    if not text.strip():
        raise WhetError(f"{printable(name, 200)!r} holds nothing.", "It should hold what pytest printed.")
    return text


def _tell(known: Memory | None, found: list[Recalled], form: str) -> None:
    turned = None if known is None else failure_of(known).turned
    if form == "json":
        alike = [{**in_full(each.memory), "likeness": each.score, "why": each.why} for each in found]
        dump({"turned": None if turned is None else turned._asdict(), "same_cause": alike})
        return
    if turned is not None:
        say(f"It {printable(turned.sentence, 500)}\n")
    if not found:
        say("No failure that is remembered is like it. Memories come from: whet run, pytest --whet")
    for each in found:
        told(each)
