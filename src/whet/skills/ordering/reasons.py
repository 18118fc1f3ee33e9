"""Why a test stands where it does, in a sentence from what was measured."""

from collections.abc import Callable

from whet.skills.ordering.columns import Columns, Places
from whet.skills.ordering.experts import View

_NEAR, _IN_COMPANY = 0.3, 0.3


def reasons(columns: Columns, seen: View, at: Places) -> Callable[[int], str]:
    """A sentence for the i-th test, made when asked for."""
    # As lists: one number of an array takes longer to get than the sentence to write.
    names = ("runs", "skips", "failures", "streak", "failed_run", "flakes")
    known = {name: getattr(columns, name)[at].astype(int).tolist() for name in names}
    runs, skips, failures, streak, failed_run, flakes = (known[name] for name in names)
    nearness = None if seen.nearness is None else seen.nearness.tolist()
    company = seen.company.tolist()

    def reason(i: int) -> str:
        return "; ".join(_signs(i)) or f"passed all of its {runs[i]} runs"

    def _signs(i: int) -> list[str]:
        signs = []
        if nearness is not None and nearness[i] >= _NEAR:
            signs.append(f"near the change ({nearness[i]:.2f})")
        if not runs[i]:
            signs.append("was skipped so far" if skips[i] else "never ran before")
        elif streak[i] > 0:
            signs.append(f"failed in its last {_times(streak[i])}")
        elif failures[i]:
            signs.append(f"failed {failures[i]} of {runs[i]} runs, last {_ago(runs[i] - failed_run[i])}")
        if flakes[i]:
            signs.append(f"changed its verdict {flakes[i]}× on equal code, so it counts less")
        if not signs and company[i] >= _IN_COMPANY:
            signs.append("fails together with what failed last")
        return signs

    return reason


def _times(runs: int) -> str:
    return "run" if runs == 1 else f"{runs} runs"


def _ago(runs: int) -> str:
    return "in its newest run" if not runs else f"{runs} {'run' if runs == 1 else 'runs'} ago"
