"""whet compare: two policies side by side, by what their runs earned."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from whet.bootstrap.site import Site, open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say, table
from whet.core.candidates import Candidate
from whet.core.errors import WhetError
from whet.core.learning_log import UnitResult
from whet.core.ports import Store

if TYPE_CHECKING:
    from whet.improvement.proving.fixed import FixedTest
    from whet.improvement.proving.sequences import Comparison

PRODUCTION = "production"
_EVER = datetime(1970, 1, 1, tzinfo=UTC)


class Side(NamedTuple):
    name: str
    results: Sequence[UnitResult]

    @property
    def rewards(self) -> list[float]:
        return [each.reward for each in self.results]

    @property
    def decisions(self) -> int:
        return sum(each.decisions for each in self.results)

    def mean(self, measure: str) -> float | None:
        values = [getattr(each, measure) for each in self.results]
        return sum(values) / len(values) if values else None


@click.command()
@click.argument("one", metavar="A")
@click.argument("other", metavar="B", default=PRODUCTION)
@project_option()
@format_option()
def compare(one: str, other: str, project: Path, form: str) -> None:
    """What the runs of candidate A earned, against those of candidate B (or, by default, of everything else that
    decided while A did). The interval may be looked at as often as you like; the t-test only once."""
    from whet.improvement.proving import fixed, sequences

    site = open_site(project)
    require_visit(site)
    with site.store() as store:
        mine, theirs = _sides(store, one, other)
    found = sequences.compare(mine.rewards, theirs.rewards, site.settings.production.confidence_level)
    shown = fixed.fixed_test(mine.rewards, theirs.rewards)
    if form == "json":
        dump(_as_json(mine, theirs, found, shown))
    else:
        _tell(site, mine, theirs, found, shown)


def _sides(store: Store, one: str, other: str) -> tuple[Side, Side]:
    first = _candidate(store, one)
    results = store.learning.results(first.agent, _EVER)
    mine, others = _parted(results, first)
    if other == PRODUCTION:
        return Side(f"candidate {first.number}", mine), Side("others meanwhile", _meanwhile(others, mine))
    second = _candidate(store, other)
    if second.number == first.number:
        raise WhetError(f"Candidate {first.number} is no different from itself.", "Name two candidates, or one alone.")
    if second.agent != first.agent:
        raise WhetError(
            f"Candidate {first.number} decides for {first.agent}, candidate {second.number} for {second.agent}.",
            "Compare two of the same agent.",
        )
    theirs, _ = _parted(results, second)
    return Side(f"candidate {first.number}", mine), Side(f"candidate {second.number}", theirs)


def _parted(results: Sequence[UnitResult], candidate: Candidate) -> tuple[list[UnitResult], list[UnitResult]]:
    """What it decided, and what others did."""
    parts: tuple[list[UnitResult], list[UnitResult]] = [], []
    for each in results:
        parts[each.policy != f"candidate-{candidate.number}"].append(each)
    return parts


def _meanwhile(others: Sequence[UnitResult], mine: Sequence[UnitResult]) -> list[UnitResult]:
    """From its first run to its last: what came before or after it met another world."""
    if not mine:
        return []
    began, ended = min(each.at for each in mine), max(each.at for each in mine)
    return [each for each in others if began <= each.at <= ended]


def _candidate(store: Store, name: str) -> Candidate:
    found = store.candidates.get(int(name)) if name.isascii() and name.isdigit() and len(name) < 10 else None
    if found is None:
        raise WhetError(f"There is no candidate {name!r}.", "whet models lists those there are.")
    return found


def _tell(site: Site, mine: Side, theirs: Side, found: "Comparison", shown: "FixedTest") -> None:
    rows = [(s.name, len(s.results), s.decisions, s.mean("reward"), s.mean("success")) for s in (mine, theirs)]
    table("By run", ("", "runs", "decisions", "mean reward", "success"), rows)
    level = f"always-valid {site.settings.production.confidence_level:.0%}"
    if found.lower is None or found.upper is None:
        say(f"\nDifference ({level}): unknown, {found.why}")
    else:
        say(f"\nDifference ({level}): {found.difference:+.2f} ({found.lower:+.2f} … {found.upper:+.2f})")
    if shown.p is not None and shown.cohens_d is not None:
        say(f"t-test p = {shown.p:.3g}, Cohen's d = {shown.cohens_d:.2f} ({shown.label})")
    if not _at_the_same_time(mine, theirs):
        say("They did not decide at the same time: whatever changed in between is part of the difference.")


def _at_the_same_time(mine: Side, theirs: Side) -> bool:
    if not mine.results or not theirs.results:
        return True
    (a, b), (c, d) = ((min(r.at for r in s.results), max(r.at for r in s.results)) for s in (mine, theirs))
    return a <= d and c <= b


def _as_json(mine: Side, theirs: Side, found: "Comparison", shown: "FixedTest") -> dict[str, object]:
    sides = [
        {
            "name": side.name,
            "runs": len(side.results),
            "decisions": side.decisions,
            "mean_reward": side.mean("reward"),
            "success": side.mean("success"),
        }
        for side in (mine, theirs)
    ]
    overlap = _at_the_same_time(mine, theirs)
    return {"sides": sides, "always_valid": found._asdict(), "fixed": shown._asdict(), "at_the_same_time": overlap}
