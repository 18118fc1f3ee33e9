"""How much a test is worth per second, in a way that agrees with the order it was ranked in."""

from __future__ import annotations

from collections.abc import Sequence


def densities(chances: Sequence[float | None], seconds: Sequence[float]) -> list[float] | None:
    """Chance of failing per second by place, falling along the order.

    The ranking knows more than the chances, so they bend to it: places where they rise are pooled (isotonic
    regression by pooling adjacent violators). A test nothing is known of is worth what its neighbour before it is.
    None when nothing is known of any test.
    """
    if all(chance is None for chance in chances):
        return None
    pools: list[list[float]] = []  # chance, seconds, tests
    unknown_before = 0
    for chance, duration in zip(chances, seconds, strict=True):
        if chance is None:
            if pools:
                pools[-1][2] += 1
            else:
                unknown_before += 1
            continue
        pools.append([chance, duration, 1])
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] <= pools[-1][0] * pools[-2][1]:
            last = pools.pop()
            pools[-1] = [a + b for a, b in zip(pools[-1], last, strict=True)]
    pools[0][2] += unknown_before
    return [chance / duration for chance, duration, tests in pools for _ in range(int(tests))]


def known_seconds(seconds: Sequence[float | None]) -> list[float]:
    """Positive everywhere: a test never timed counts as the median of the others."""
    known = sorted(value for value in seconds if value is not None)
    usual = known[len(known) // 2] if known else 1.0
    return [max(usual if value is None else value, 1e-4) for value in seconds]
