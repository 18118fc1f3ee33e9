"""The arithmetic of one table cell, as pure functions. The SQL store does the same on the server."""

from whet.core.ports import Entry, Move


def moved(entry: Entry | None, move: Move, target: float, *, counted: bool = True) -> Entry:
    """The cell after one step: q ← q + rate · (target − q), and Welford's update of its statistics.

    Welford, B. P. (1962): mean' = mean + (x − mean) / n, m2' = m2 + (x − mean)(x − mean').
    Without `counted` (replay) only the Q-value moves.
    """
    old = entry or Entry(q_value=0.0, visits=0, mean=0.0, m2=0.0)
    rate = max(move.rate, 1.0 / (old.visits + 1)) if move.averaged else move.rate
    q_value = old.q_value + rate * (target - old.q_value)
    if not counted:
        return old.model_copy(update={"q_value": q_value})
    visits = old.visits + 1
    mean = old.mean + (target - old.mean) / visits
    m2 = old.m2 + (target - old.mean) * (target - mean)
    return Entry(q_value=q_value, visits=visits, mean=mean, m2=max(m2, 0.0))


def effective_visits(visits: int, rate: float) -> float:
    """How many independent targets a Q-value is worth.

    A plain mean of n targets is worth n. An exponential average with rate α never is worth more
    than (2 − α) / α: its variance is σ² α / (2 − α).
    """
    return min(float(visits), (2.0 - rate) / rate)
