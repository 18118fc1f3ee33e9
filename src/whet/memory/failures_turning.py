"""Where a failing test first went another way than when it passed: the nearest to a cause that can be measured.

Two failures that turn at the same statement are likely to have one cause, the more so when they turn alike: to the same
other line, or with a value that became something else in the same manner.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

_LONGEST = 300
_KINDS = ("way", "value", "ended")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_TOKEN = re.compile(r"-?\d[\w.]*|\w+|\W")


class Turn(NamedTuple):
    """`place` is the statement, "file:function+lines below its head"; at "" both runs went the same way throughout.

    kind "way": it went to `now` instead of `was`. "value": `name` became `now` instead of `was`. "ended": it ended
    there, with nothing of the project's own to be seen.
    """

    place: str
    line: int = 0
    kind: str = "way"
    name: str = ""
    was: str = ""
    now: str = ""

    @property
    def at(self) -> str:
        """For people."""
        return f"{self.place.partition(':')[0]}:{self.line}"

    @property
    def sentence(self) -> str:
        if not self.place:
            return "goes the same way as when it passed, as far as the project's own code shows."
        if self.kind == "value":
            became, was = self.now or "nothing", self.was or "nothing"
            return f"first differs at {self.at}: {self.name} becomes {became} instead of {was}."
        if self.kind == "ended":
            return f"ends after {self.at}, having gone the same way as when it passed."
        return f"first goes another way at {self.at}: to {_spoken(self.now)} instead of {_spoken(self.was)}."


def _spoken(way: str) -> str:
    place, _, what = way.partition("\t")
    return f"{place} ({what.replace(chr(9), ' ')})" if what else "its end"


def told(turn: Turn) -> str:
    was, now = _differing(turn.was, turn.now) if turn.kind == "value" else (turn.was, turn.now)
    return json.dumps([*turn[:4], was[:_LONGEST], now[:_LONGEST]], ensure_ascii=False)


def read(text: str) -> Turn | None:
    """What `told` told; None for anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or len(found) != len(Turn._fields):
        return None
    place, line, kind, *texts = found
    fits = isinstance(place, str) and type(line) is int and kind in _KINDS and all(isinstance(t, str) for t in texts)
    return Turn(place, line, kind, *texts) if fits else None


def measured(found: dict[str, Any] | None) -> Turn | None:
    """As the plugin tells it."""
    return None if found is None else Turn(**{"place": "", **found})


def traits(turn: Turn | None) -> frozenset[str]:
    """What two turns may have in common, from the function down to the manner."""
    if turn is None or not turn.place:
        return frozenset()
    function, place = turn.place.rpartition("+")[0], turn.place
    return frozenset({f"in {function}", f"at {place}"} | {f"at {place} {each}" for each in _manner(turn)})


def _manner(turn: Turn) -> Iterator[str]:
    yield f"{turn.kind} {turn.name}"
    if turn.kind == "value":
        yield from _change(*_differing(turn.was, turn.now))
    else:
        yield f"between {sorted((turn.was, turn.now))}"
        yield f"from {turn.was} to {turn.now}"


def _change(was: str, now: str) -> Iterator[str]:
    """In which manner a value became another."""
    yield f"from {_sort(was)} to {_sort(now)}"
    yield f"from {was} to {now}"
    if _NUMBER.fullmatch(was) and _NUMBER.fullmatch(now):
        by = float(now) - float(was)
        yield f"by {by:g}"
        yield "more" if by > 0 else "less"
    elif was and now:
        yield "longer" if len(now) > len(was) else "shorter" if len(now) < len(was) else "as long"


def _sort(text: str) -> str:
    if _NUMBER.fullmatch(text):
        return "number"
    if text in ("True", "False", "None", ""):
        return text or "nothing"
    return "text" if text[:1] in "'\"" else text.partition("(")[0][:40]


def _differing(was: str, now: str) -> tuple[str, str]:
    """Without the words that both begin and end with."""
    one, other = _TOKEN.findall(was[: 10 * _LONGEST]), _TOKEN.findall(now[: 10 * _LONGEST])
    first = _alike(one, other)
    one, other = one[first:], other[first:]
    last = _alike(one[::-1], other[::-1])
    return "".join(one[: len(one) - last]), "".join(other[: len(other) - last])


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many of the first."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
