"""whet memory same-cause: has this been seen before, perhaps in another test?"""

from pathlib import Path
from typing import Any, NamedTuple

import click

from whet.bootstrap.following import last_passed
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
_NOTHING: dict[str, Any] = {"passed_at": None, "note": None, "turned": None, "same_cause": []}


@click.command(name="same-cause", short_help="Which past failures have the same cause.")
@click.argument("failure", metavar="TEST|FILE")
@click.option(
    "--passed-at",
    metavar="COMMIT",
    help="Run TEST at this commit and now, and find where it first goes another way: the surest sign of a cause. "
    "Default: where the newest run began in which it is known to have passed.",
)
@click.option("--by-text", is_flag=True, help="Compare what is remembered of it; run nothing.")
@click.option("--seconds", default=120.0, show_default=True, type=click.FloatRange(1), help="For each of these runs.")
@click.option("--limit", default=5, show_default=True, type=click.IntRange(1, 100), help="How many at most.")
@project_option()
@format_option()
def same_cause(
    failure: str, passed_at: str | None, by_text: bool, seconds: float, limit: int, project: Path, form: str
) -> None:
    """Remembered failures that are likely to have the cause of one at hand, the likeliest first.

    \b
    TEST is a test whose last failure is remembered, FILE holds what pytest printed (-: standard input):
      whet memory same-cause tests/test_cart.py::test_total
      whet memory same-cause tests/test_cart.py::test_total --passed-at HEAD~1
      pytest tests/test_cart.py | whet memory same-cause -
    """
    site, is_test = open_site(project), "::" in failure
    require_visit(site, empty=_NOTHING if form == "json" else None)
    if passed_at is not None and (by_text or not is_test):
        raise click.UsageError("--passed-at needs a TEST, such as tests/test_cart.py::test_total, and no --by-text")
    with site.store() as store:
        memory = fleet_memory(site, store)
        if site.settings.memory.enabled:
            memory.catch_up()
        asked = _asked(site, memory, failure, passed_at, by_text, seconds) if is_test else _Asked()
        known = asked.failure
        found = same_cause_as_text(memory, _read(failure), limit) if known is None else alike(memory, known, limit)
        memory.memories.note_use([each.memory.id for each in found], now())
    _tell(asked, found, form)


class _Asked(NamedTuple):
    """`note`: how it was followed, or why not."""

    failure: Memory | None = None
    passed_at: str | None = None
    note: str = ""


def _asked(site: Site, memory: FleetMemory, test: str, passed_at: str | None, by_text: bool, seconds: float) -> _Asked:
    failure, version = last_failure(memory, test), site.project.code_version()
    if passed_at is not None:
        return _Asked(follow(site, memory, failure, test, passed_at, seconds), passed_at)
    if by_text or failure.about.get("followed") == version:
        return _Asked(failure)
    passed = last_passed(site, memory.store.sheets, [test], version)
    if passed is None:
        return _Asked(failure, None, f"{_compared(failure)}: no commit is known where it passed (--passed-at COMMIT).")
    where = f"{passed.commit[:12]}, where it passed on {passed.at:%Y-%m-%d %H:%M}"
    try:
        followed = follow(site, memory, failure, test, passed.commit, seconds)
    except WhetError as error:
        return _Asked(failure, None, f"{_compared(failure)}. It could not be followed from {where}: {error}")
    return _Asked(followed, passed.commit, f"Followed from {where}.")


def _compared(failure: Memory) -> str:
    return "Compared by its text" if failure_of(failure).turned is None else "Compared by where it turned before"


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


def _tell(asked: _Asked, found: list[Recalled], form: str) -> None:
    turned = None if asked.failure is None else failure_of(asked.failure).turned
    if form == "json":
        alike = [{**in_full(each.memory), "likeness": each.score, "why": each.why} for each in found]
        where = None if turned is None else turned._asdict()
        dump({"passed_at": asked.passed_at, "note": asked.note or None, "turned": where, "same_cause": alike})
        return
    if asked.note:
        say(printable(asked.note, 500))
    if turned is not None:
        say(f"It {printable(turned.sentence, 500)}\n")
    if not found:
        say("No failure that is remembered is like it. Memories come from: whet run, pytest --whet")
    for each in found:
        told(each)
