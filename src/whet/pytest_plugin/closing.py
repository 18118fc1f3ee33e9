"""The line after the run: what came of it, measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from whet.pytest_plugin.advice import Advice, Learned
from whet.pytest_plugin.options import Wishes
from whet.pytest_plugin.timeline import Timeline, failure_in_order

_SHOWN = 10


@dataclass
class Story:
    """All that is known when the run is over."""

    wishes: Wishes
    timeline: Timeline
    advice: Advice | None = None
    learned: Learned | None = None
    own: Sequence[str] = ()  # the tests in the suite's own order
    ours: Sequence[str] = ()  # and in the order we gave or, observing, would have given
    elsewhere: Callable[..., float | None] = failure_in_order  # when a failure comes in an order that did not run
    complete: bool = False
    broken_files: int = 0  # that could not be collected
    stopped: bool = False  # before its end: -x, Ctrl-C
    troubles: list[str] = field(default_factory=list)

    @property
    def observing(self) -> bool:
        return self.wishes.shadow or self.wishes.own_order is not None

    @property
    def selecting(self) -> bool:
        return not self.observing and (self.wishes.budget_seconds or self.wishes.risk) is not None


def closing_lines(story: Story, verbosity: int) -> list[str]:
    lines = [f"whet: {'; '.join(_sentences(story))}."]
    if verbosity < 0:
        return lines
    if story.timeline.quarantined_failures:
        lines.append(f"whet: in quarantine and failed: {', '.join(story.timeline.quarantined_failures[:_SHOWN])}")
    known = story.learned.flaky if story.learned is not None else ()
    if flaky := [test for test in known if test not in story.timeline.failed_at_its_end]:
        lines.append(f"whet: fails and passes on the same code; `whet quarantine add '{flaky[0]}'`?")
    if verbosity > 0 and story.advice is not None:
        lines.extend(_reasons(story.advice, story.ours))
    return lines


def _sentences(story: Story) -> list[str]:
    told = [_failure(story)]
    if story.wishes.own_order is not None:
        told.append(f"{story.wishes.own_order} orders the tests, Whet only watched")
    if story.advice is not None and story.advice.selection is not None:
        told.append(f"would have chosen: {story.advice.selection}" if story.observing else story.advice.selection)
    waiting = len(set(story.ours).difference(story.timeline.results))
    if story.selecting and waiting:
        ended = "the run was stopped" if story.stopped else "the budget was used up"
        higher = ", so the risk is higher" if story.timeline.first_failure is None else ""
        told.append(f"{ended} before {waiting} of these could start{higher}")
    failed = len(story.timeline.quarantined_failures)
    if failed:
        told.append(f"quarantined: {failed} failed, did not count")
    told.extend(_troubles(story.troubles))
    return told


def _troubles(told: Sequence[str]) -> list[str]:
    """What was lost for the same reason, with the reason once."""
    lost: dict[str, list[str]] = {}
    for trouble in told:
        what, _, why = trouble.partition(" (")
        lost.setdefault(why, []).append(what)
    return [", ".join(what) + (f" ({why}" if why else "") for why, what in lost.items()]


def _failure(story: Story) -> str:
    first = story.timeline.first_failure
    total = len(story.own) or len(story.timeline.results)
    if first is None:
        runs = story.learned.runs if story.learned is not None else story.advice.runs if story.advice else None
        known = "" if runs is None else f", {runs} {'run' if runs == 1 else 'runs'} known"
        ran = len(story.timeline.results)
        broken = f"{story.broken_files} file(s) could not be collected" if story.broken_files else ""
        return f"{ran or 'no'} tests{known}; {broken or ('nothing failed' if ran else 'nothing ran')}"
    told = f"first failure after {_time(first.seconds)} (test {first.number} of {total})"
    return f"{told}; {_otherwise(story)}" if story.own and story.advice is not None else told


def _otherwise(story: Story) -> str:
    """The run that was not made, from the durations of this one and of earlier ones; between the tests as much
    time passes as it did here."""
    where = "with --whet" if story.observing else "in the suite's own order"
    order = story.ours if story.observing else story.own
    what = "it" if story.complete else "this failure"  # others may wait among the tests that did not run
    seconds = story.elsewhere(order, _seconds(story), story.timeline.failures())
    if seconds is None:
        return f"when {what} would have come {where} is unknown"
    return f"{where} {what} would have come after about {_time(seconds + _lost_on_the_way(story))}"


def _lost_on_the_way(story: Story) -> float:
    """What showing the failure took, and reaching the workers: as much there as here."""
    first, seconds = story.timeline.first_failure, _seconds(story)
    inside = sum(seconds.get(test, 0.0) for test in story.timeline.up_to_first_failure())
    return max(0.0, first.seconds - inside) if first is not None else 0.0


def _seconds(story: Story) -> Mapping[str, float]:
    known = {p.test: p.expected_seconds for p in story.advice.ranking} if story.advice is not None else {}
    expected = {test: seconds for test, seconds in known.items() if seconds is not None}
    between = story.timeline.between_seconds()
    measured = {test: result.seconds for test, result in story.timeline.ended().items()}
    return {test: seconds + between for test, seconds in {**expected, **measured}.items()}


def _reasons(advice: Advice, ours: Sequence[str]) -> list[str]:
    why = {placed.test: placed.reason for placed in advice.ranking}
    return [f"  {number}. {test}: {why.get(test, 'unknown')}" for number, test in enumerate(ours[:_SHOWN], start=1)]


def _time(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min"
