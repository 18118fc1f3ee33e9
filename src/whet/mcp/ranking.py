"""The order that `whet rank` gives, for a change that the caller describes or that git knows."""

from collections.abc import Sequence
from typing import NamedTuple

from whet.bootstrap.lane import commit_named
from whet.bootstrap.ordering import Ordering, open_ordering
from whet.bootstrap.site import Site
from whet.bootstrap.surroundings import Surroundings
from whet.core.errors import RefusedInput
from whet.mcp.answers import RankedTest, Ranking
from whet.mcp.changing import change_of_diff, change_of_files
from whet.mcp.quoting import named, sentence
from whet.skills.ordering import Ranked
from whet.skills.ordering.proximity import Near
from whet.tools.changes import Change


class Described(NamedTuple):
    """The change, as the caller describes it. Neither `change` nor `since`: git says what changed lately."""

    change: Change | None
    since: str | None
    notes: tuple[str, ...]


def described(
    site: Site, diff: str | None, changed_files: Sequence[str] | None, changed_since: str | None
) -> Described:
    """Refused before anything is started, if it makes no sense."""
    given = {"diff": diff, "changed_files": changed_files, "changed_since": changed_since}
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise RefusedInput(f"{' and '.join(names)} were given together.", "Describe the change in one way.")
    root, notes = site.project.root, list[str]()
    change = change_of_diff(root, diff, notes) if diff is not None else None
    if changed_files is not None:
        change = change_of_files(root, changed_files)
    since = None if changed_since is None else commit_named(root, changed_since)
    return Described(change, since, tuple(notes))


def rank(site: Site, tests: Sequence[str], by: Described, limit: int) -> Ranking:
    """`tests`: all there are."""
    with open_ordering(site.project.root, by.since) as ordering:
        around = None if by.change is None else _around(ordering, by.change)
        # A rename makes ordering look around anew, which would forget what the caller said.
        standing = ordering.rank(list(dict.fromkeys(tests)), whole=around is None, around=around)
        change, shown = standing.around.change, enumerate(standing.ranked[:limit], start=1)
        return Ranking(
            tests=tuple(_line(place, one, standing.near.get(one.test)) for place, one in shown),
            tests_total=len(standing.ranked),
            runs_known=ordering.orderer.sheets,
            branch=None if ordering.lane.branch is None else named(ordering.lane.branch),
            changed_files=None if change is None else tuple(named(file) for file in change.files),
            notes=tuple(sentence(f"{note}.") for note in (*by.notes, *ordering.notes)),
        )


def _around(ordering: Ordering, change: Change) -> Surroundings:
    seen = ordering.look_around()
    ordering.notes.clear()  # what git could not say does not matter here
    return seen._replace(change=change, executed=ordering.sheets.executed(list(change.files)))


def _line(place: int, ranked: Ranked, near: Near | None) -> RankedTest:
    return RankedTest(
        place=place,
        test=named(ranked.test),
        reason=sentence(ranked.reason),
        near_the_change=None if near is None else sentence(near.reason),
        likelihood=ranked.likelihood,
        expected_seconds=ranked.expected_seconds,
    )
