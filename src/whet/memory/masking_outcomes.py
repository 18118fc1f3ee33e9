"""What tools saw, without secrets and personal data: findings quote what tests and services said."""

from typing import TypeVar

from whet.core.records import Finding, Outcome
from whet.memory.masking import masked

AnyOutcome = TypeVar("AnyOutcome", bound=Outcome)


def masked_outcome(outcome: AnyOutcome) -> AnyOutcome:
    """As it is stored, shown and remembered. Names of tests stay: without them nobody sees it again."""
    failed = None if outcome.failed is None else masked(outcome.failed)
    return outcome.model_copy(update={"findings": tuple(map(_masked, outcome.findings)), "failed": failed})


def _masked(finding: Finding) -> Finding:
    return finding.model_copy(update={"title": masked(finding.title), "evidence": masked(finding.evidence)})
