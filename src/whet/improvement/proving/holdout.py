"""Which runs are never trained on, and which of them may still judge a candidate.

A run is held out by a salted hash of its id: the same run always, on every machine, whatever it earned. All decisions
of a run go the same way, since they are alike.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime

from whet.core.candidates import Candidate
from whet.core.errors import RefusedInput
from whet.core.records import Count, Experience, Record

SHARE = 0.25
# Under this name a candidate's evidence has what it was judged with.
WINDOW = "holdout"


class Window(Record):
    """The held-out runs that a candidate was judged with: those from `since`, up to and with `until`."""

    since: datetime | None  # None: from the beginning
    until: datetime
    runs: Count
    decisions: Count


def held_out(run_id: str, salt: str, share: float = SHARE) -> bool:
    if not 0.0 <= share < 1.0:
        raise RefusedInput(f"The share of runs held out is {share}.", "Give a number from 0 to below 1, such as 0.25.")
    digest = hashlib.sha256(f"{salt}\0holdout\0{run_id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") < share * 2.0**64


def fresh(
    experiences: Iterable[Experience], salt: str, since: datetime | None, share: float = SHARE
) -> list[Experience]:
    """What may judge a candidate: held out, and newer than what its parent was judged with."""
    return [
        each
        for each in experiences
        if held_out(each.run_id, salt, share) and (since is None or each.decision.at > since)
    ]


def window(judged: Sequence[Experience], since: datetime | None, now: datetime) -> Window:
    until = max((each.decision.at for each in judged), default=now)
    return Window(since=since, until=until, runs=len({each.run_id for each in judged}), decisions=len(judged))


def begins_after(parent: Candidate | None) -> datetime | None:
    """The end of what its parent was judged with: a parent that passed was chosen by luck, too, on those runs."""
    told = None if parent is None else parent.evidence.get(WINDOW)
    return None if told is None else Window.model_validate(told).until


def tried(earlier: Iterable[Candidate], since: datetime | None) -> int:
    """How many candidates the runs after `since` have judged, with the one that comes now."""
    windows = [Window.model_validate(each.evidence[WINDOW]) for each in earlier if WINDOW in each.evidence]
    return 1 + sum(since is None or each.until > since for each in windows)
