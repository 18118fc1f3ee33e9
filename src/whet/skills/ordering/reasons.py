"""Why a test stands where it does, in a sentence from what was measured."""

from collections.abc import Callable

from whet.skills.ordering.columns import Columns, Places
from whet.skills.ordering.experts import View

_NEAR, _IN_COMPANY = 0.3, 0.3


def reasons(columns: Columns, seen: View, at: Places) -> Callable[[int], str]:
    """A sentence for the i-th test, made when asked for."""

    def reason(i: int) -> str:
        place = int(at[i])
        runs, failures = int(columns.runs[place]), int(columns.failures[place])
        return "; ".join(_signs(i, place, runs, failures)) or f"passed all of its {runs} runs"

    def _signs(i: int, place: int, runs: int, failures: int) -> list[str]:
        signs = []
        near = None if seen.nearness is None else float(seen.nearness[i])
        if near is not None and near >= _NEAR:
            signs.append(f"near the change ({near:.2f})")
        if not runs:
            signs.append("never ran before")
        elif columns.streak[place] > 0:
            signs.append(f"failed in its last {_times(int(columns.streak[place]))}")
        elif failures:
            signs.append(f"failed {failures} of {runs} runs, last {_ago(runs - int(columns.failed_run[place]))}")
        if columns.flakes[place]:
            signs.append(f"changed its verdict {int(columns.flakes[place])}× on equal code, so it counts less")
        if not signs and seen.company[i] >= _IN_COMPANY:
            signs.append("fails together with what failed last")
        return signs

    return reason


def _times(runs: int) -> str:
    return "run" if runs == 1 else f"{runs} runs"


def _ago(runs: int) -> str:
    return "in its newest run" if not runs else f"{runs} {'run' if runs == 1 else 'runs'} ago"
