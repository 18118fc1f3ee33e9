"""Which tests fail and pass on the same code."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from whet.core.memories import Memory
from whet.memory.facts_claims import Claim
from whet.memory.facts_counting import LATEST, Tally, since_last_change
from whet.memory.remembering_runs import listed

# One odd run may be the machine's fault.
_FEWEST_FAILURES, _FEWEST_PASSES = 3, 2


class _Run(NamedTuple):
    at: datetime
    id: str
    code: str
    failed: frozenset[str]


def flakiness_claims(runs: Sequence[Memory]) -> Iterator[Claim]:
    """From whole runs of code that ran at least twice. Code on which a test always fails is left out: that is a defect,
    and says nothing about chance."""
    repeated = _repeated(runs)
    failing: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    times: dict[str, int] = defaultdict(int)
    for run in repeated:
        times[run.code] += 1
        for test in run.failed:
            failing[test][run.code] += 1
    for test, by_code in sorted(failing.items()):
        broken = {code for code, failures in by_code.items() if failures == times[code]}
        yield _claim(test, [test in run.failed for run in repeated if run.code not in broken])


def _claim(test: str, fates: Sequence[bool]) -> Claim:
    held = since_last_change(fates[-LATEST:])
    tally = Tally(sum(held), len(held) - sum(held), 0, 0)
    holds = tally.support >= _FEWEST_FAILURES and tally.against >= _FEWEST_PASSES
    sentence = f"{test} fails in {tally.support:,} of {len(held):,} runs of code on which it also passes."
    subjects = (f"test:{test}", f"file:{test.partition('::')[0]}")
    return Claim("flaky", (test,), sentence, tally, holds, holds, subjects)


def _repeated(runs: Sequence[Memory]) -> list[_Run]:
    """In the order of their times."""
    by_code: dict[str, list[_Run]] = defaultdict(list)
    for run in runs:
        code, failed = run.about.get("code_version"), run.about.get("failed_tests")
        if isinstance(code, str) and failed is not None and run.about.get("complete") is True:
            by_code[code].append(_Run(run.at, run.id, code, frozenset(listed(failed))))
    return sorted(run for same in by_code.values() if len(same) > 1 for run in same)
