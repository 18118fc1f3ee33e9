"""Which results are of one run, and a run's sheet.

What began within half an hour of the end of what came before is of the same run. Files of one directory
are of one run if besides they share no test (surefire writes a file per class, shards write one each);
a test that comes again is the next run. Inside one file a test that comes again is a retry.
"""

import hashlib
import struct
from array import array
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from whet.core.sheets import Sheet
from whet.tools.results.refusing import bad
from whet.tools.results.reported import LONGEST_NAME, NameOf, Part, Reported

SAME_RUN_GAP = timedelta(minutes=30)
REPEATED = "repeated in their run: the last outcome counts"
OVERLONG = f"of tests whose name has more than {LONGEST_NAME} characters"


class Run(NamedTuple):
    """The same id is the same run, wherever it is met."""

    id: str
    part: Part


def gathered(parts: Iterable[Part], *, sharing_no_test: bool = False) -> list[Part]:
    """Parts that are of one run, put together; oldest first."""
    runs: list[Part] = []
    met: set[Reported] = set()
    until = datetime.min.replace(tzinfo=UTC)
    for begins, ends, part in sorted(((*p.span, p) for p in parts), key=lambda spanned: spanned[0]):
        if runs and begins <= until + SAME_RUN_GAP and met.isdisjoint(part.tests):
            _join(runs[-1], part)
        else:
            runs.append(part)
            met, until = set(), ends
        until = max(until, ends)
        if sharing_no_test:
            met.update(part.tests)
    return runs


def _join(run: Part, part: Part) -> None:
    """A stated time is worth more than a file's."""
    if run.dated_by_file == part.dated_by_file:
        run.at = min(run.at, part.at)
    elif run.dated_by_file:
        run.at, run.dated_by_file = part.at, False
    run.complete = run.complete and part.complete
    run.extend(part)


def identified(part: Part) -> Run:
    """With a digest of what was reported, in an order of its own: neither path, archive, file time nor our naming
    matters."""
    rows = sorted(range(len(part.tests)), key=part.tests.__getitem__)
    names = "\0".join("\x01".join(part.tests[row]) for row in rows)
    if names.count("\0") > max(0, len(rows) - 1):
        raise bad(part.origin, "names a test with a null character")
    digest = hashlib.sha256(f"{part.source}\0{'' if part.dated_by_file else part.at.isoformat()}\0".encode())
    try:
        digest.update(names.encode())
    except UnicodeEncodeError as error:
        raise bad(part.origin, "names a test with half a character (a lone surrogate)") from error
    digest.update(bytes(part.outcomes[row] for row in rows))
    digest.update(struct.pack(f"<{len(rows)}d", *(part.seconds[row] for row in rows)))
    return Run(digest.hexdigest(), part)


def sheet_of(run: Run, name_of: NameOf, branch: str | None, left_out: Counter[str]) -> Sheet:
    id_, part = run
    last: dict[str, int] = {}
    for row, test in enumerate(part.tests):
        last[name_of(test)] = row
    left_out[REPEATED] += len(part.tests) - len(last)
    for name in [name for name in last if len(name) > LONGEST_NAME]:
        del last[name]
        left_out[OVERLONG] += 1
    return Sheet(
        id=id_,
        at=part.at,
        source=part.source,
        tests=list(last),
        outcomes="".join(chr(part.outcomes[row]) for row in last.values()),
        seconds=array("d", (part.seconds[row] for row in last.values())),
        branch=branch,
        complete=part.complete,
    )
