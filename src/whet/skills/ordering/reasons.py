"""Why a test stands where it does: what moved it there, in a sentence from what was measured."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from whet.skills.ordering import experts
from whet.skills.ordering.columns import Columns, Flags, Places
from whet.skills.ordering.experts import View

_TELLING = 0.1  # a smaller share of its likelihood did not move a test, nor did so short a way through the suite
_NEAR = 0.3


class Counting(NamedTuple):
    """By test: what the expert that ordered them went by."""

    change: list[bool]
    past: list[bool]
    company: bool


def reasons(columns: Columns, seen: View, at: Places, expert: str, order: Places) -> Callable[[int], str]:
    """A sentence for the i-th test, made when asked for."""
    # As lists: one number of an array takes longer to get than the sentence to write.
    names = ("runs", "skips", "failures", "streak", "failed_run", "flakes")
    known = {name: getattr(columns, name)[at].astype(int).tolist() for name in names}
    runs, skips, failures, streak, failed_run, flakes = (known[name] for name in names)
    nearness = [] if seen.nearness is None else np.nan_to_num(seen.nearness).tolist()
    company, quiet = seen.company.tolist(), seen.quiet.tolist()
    counting, moved = _counting(seen, expert), _moved(seen, expert, order, columns.timed[at] > 0)

    def reason(i: int) -> str:
        signs = [_near(nearness[i])] if counting.change[i] else []
        if counting.company:
            signs.append(_in_company(company[i]))
        elif counting.past[i]:
            signs.extend(_past(i))
        elif not signs:
            signs.append("how near it is to the change is not known")
        return "; ".join([*signs, moved[i]] if i in moved else signs)

    def _past(i: int) -> list[str]:
        if not runs[i]:
            return ["was skipped so far" if skips[i] else "never ran before"]
        if streak[i] > 0:
            signs = [f"failed in its last {_times(streak[i])}"]
        elif failures[i]:
            signs = [f"failed {failures[i]} of {runs[i]} runs, last {_ago(runs[i] - failed_run[i])}"]
        else:
            signs = ["passed its only run" if runs[i] == 1 else f"passed all of its {runs[i]} runs"]
        if flakes[i]:
            signs.append(f"changed its verdict {flakes[i]}× on equal code, so it counts less")
        if quiet[i] and not counting.change[i] and expert not in experts.HEURISTICS:
            signs.append("far from the change, so it counts less")
        return signs

    return reason


def _counting(seen: View, expert: str) -> Counting:
    nothing = [False] * len(seen.probability)
    everything = [True] * len(nothing)
    if expert == experts.IN_COMPANY:
        return Counting(nothing, nothing, company=True)
    if expert in experts.HEURISTICS or seen.nearness is None:
        return Counting(nothing, everything, company=False)
    if expert in experts.NEAR:
        return Counting((~np.isnan(seen.nearness)).tolist(), nothing, company=False)
    past = seen.by_history >= _TELLING * seen.probability
    change = seen.probability - seen.by_history >= _TELLING * seen.probability
    return Counting(change.tolist(), past.tolist(), company=False)


def _moved(seen: View, expert: str, order: Places, timed: Flags) -> dict[int, str]:
    """Those that stand elsewhere than they would if seconds did not count; of what was never timed it is not said."""
    alone = np.empty(len(order), dtype=np.intp)
    alone[np.argsort(-experts.without_seconds(expert, seen), kind="stable")] = np.arange(len(order))
    earlier = alone[order] - np.arange(len(order))
    far = np.flatnonzero(timed[order] & (np.abs(earlier) >= max(1.0, _TELLING * len(order))))
    return {
        int(order[place]): "quick, so it comes earlier" if earlier[place] > 0 else "long, so it comes later"
        for place in far.tolist()
    }


def _near(nearness: float) -> str:
    return f"near the change ({nearness:.2f})" if nearness >= _NEAR else f"a little near the change ({nearness:.2g})"


def _in_company(share: float) -> str:
    return f"fails together with what failed last ({share:.2f})" if share else "does not fail with what failed last"


def _times(runs: int) -> str:
    return "run" if runs == 1 else f"{runs} runs"


def _ago(runs: int) -> str:
    return "in its newest run" if not runs else f"{runs} {'run' if runs == 1 else 'runs'} ago"
