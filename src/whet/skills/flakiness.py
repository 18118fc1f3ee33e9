"""Is a test flaky? A probability from repeated executions of unchanged code, and hints at the cause.

Three hypotheses are weighed for each test: it always passes, it always fails, or it fails with some rate in between.
Passing and failing on the same code is all but proof; passing often makes flakiness unlikely, never impossible.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from whet.core.ports import ConditionCount
from whet.core.records import Probability, Record

# How often a test is stable green, stable red, or flaky before it was ever run. Public studies find 1–5 % flaky.
PRIOR_PASS, PRIOR_FAIL, PRIOR_FLAKY = 0.93, 0.05, 0.02
# How often a stable test shows the wrong verdict because the machine hiccuped.
HICCUP = 1e-5
# Failure rates of flaky tests lean low: Beta(1/2, 3), mean one in seven, half of them below one in twelve.
_A, _B = 0.5, 3.0
FLAKY_AT = 0.95
# A hint, not a verdict: worth saying when chance alone would do it less than once in ten.
SIGNIFICANT = 0.1
ORDERS = frozenset({"shuffled", "reversed", "isolated", "parallel", "selected"})


def flaky_probability(executions: int, failures: int) -> float:
    """P(flaky | verdicts), by Bayes over the three hypotheses."""
    passes = executions - failures
    green = math.log(PRIOR_PASS) + failures * math.log(HICCUP) + passes * math.log1p(-HICCUP)
    red = math.log(PRIOR_FAIL) + passes * math.log(HICCUP) + failures * math.log1p(-HICCUP)
    flaky = math.log(PRIOR_FLAKY) + _log_beta(failures + _A, passes + _B) - _log_beta(_A, _B)
    top = max(green, red, flaky)
    weights = [math.exp(x - top) for x in (green, red, flaky)]
    return weights[2] / sum(weights)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


class Hint(Record):
    """A likely cause, with what speaks for it."""

    cause: str
    because: str


class Verdict(Record):
    test: str
    executions: int
    failures: int
    probability: Probability
    hints: tuple[Hint, ...] = ()

    @property
    def flaky(self) -> bool:
        return self.probability >= FLAKY_AT


@dataclass(frozen=True)
class Traits:
    """What is known of a test besides its verdicts."""

    network: Mapping[str, bool | None] = field(default_factory=dict)
    slept: Mapping[str, float | None] = field(default_factory=dict)
    mentions: Mapping[str, frozenset[str]] = field(default_factory=dict)


def verdicts(counts: Iterable[ConditionCount], traits: Traits | None = None) -> dict[str, Verdict]:
    """One verdict per test, from all conditions together; hints from how the conditions differ."""
    by_test: dict[str, dict[str, tuple[int, int]]] = {}
    for c in counts:
        executions, failures = by_test.setdefault(c.test, {}).get(c.condition, (0, 0))
        by_test[c.test][c.condition] = (executions + c.executions, failures + c.failures)
    return {test: _verdict(test, conditions, traits or Traits()) for test, conditions in by_test.items()}


def _verdict(test: str, conditions: Mapping[str, tuple[int, int]], traits: Traits) -> Verdict:
    executions = sum(n for n, _ in conditions.values())
    failures = sum(f for _, f in conditions.values())
    mixed = 0 < failures < executions
    return Verdict(
        test=test,
        executions=executions,
        failures=failures,
        probability=flaky_probability(executions, failures),
        hints=tuple(_hints(test, conditions, traits)) if mixed else (),
    )


def _hints(test: str, conditions: Mapping[str, tuple[int, int]], traits: Traits) -> Iterable[Hint]:
    for cause, those in (("order", ORDERS), ("time", {"loaded"}), ("randomness", {"reseeded"})):
        told = _contrast(conditions, frozenset(those))
        if told:
            yield Hint(cause=cause, because=told)
    if traits.network.get(test):
        yield Hint(cause="network", because="it opened a network connection while it ran")
    mentions = traits.mentions.get(test, frozenset())
    if traits.slept.get(test) or "time" in mentions:
        yield Hint(cause="time", because="it sleeps or reads the clock")
    if "random" in mentions:
        yield Hint(cause="randomness", because="its code draws random numbers or depends on hash order")


def _contrast(conditions: Mapping[str, tuple[int, int]], those: frozenset[str]) -> str | None:
    """A sentence when the test fails significantly more often under `those` conditions than in its own order."""
    n1 = sum(n for c, (n, _) in conditions.items() if c in those)
    f1 = sum(f for c, (_, f) in conditions.items() if c in those)
    n0, f0 = conditions.get("own-order", (0, 0))
    if not (n0 and n1 and f1) or f1 / n1 <= f0 / n0:
        return None
    p = fisher_greater(f1, n1, f0, n0)
    if p >= SIGNIFICANT:
        return None
    return (
        f"failed {f1} of {n1} {'/'.join(sorted(those & set(conditions)))}, {f0} of {n0} in its own order (p = {p:.2g})"
    )


def fisher_greater(f1: int, n1: int, f0: int, n0: int) -> float:
    """Fisher's exact test, one-sided: P(at least f1 of the f1 + f0 failures fall into the first group)."""
    total = math.comb(n1 + n0, f1 + f0)
    top = min(n1, f1 + f0)
    return sum(math.comb(n1, k) * math.comb(n0, f1 + f0 - k) for k in range(f1, top + 1)) / total


def entropy(probability: float) -> float:
    """Doubt in bits: 1 when nobody knows, 0 when it is settled."""
    if probability <= 0.0 or probability >= 1.0:
        return 0.0
    return -(probability * math.log2(probability) + (1 - probability) * math.log2(1 - probability))


def divergence(now: float, before: float) -> float:
    """What was learned about one test, in bits: the Kullback–Leibler divergence of the new verdict from the old."""
    pairs = ((now, before), (1.0 - now, 1.0 - before))
    return sum(p * math.log2(p / max(q, 1e-300)) for p, q in pairs if p > 0.0)
