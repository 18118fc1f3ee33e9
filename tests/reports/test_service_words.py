"""What the agents for services measured, in the words of the report."""

from typing import get_args

from whet.agents.contracts import ContractOutcome
from whet.agents.data import DataOutcome
from whet.core.records import Finding
from whet.reports.highlights import highlights
from whet.reports.words import ADVICE, KINDS


def test_every_kind_of_finding_has_words_and_advice() -> None:
    kinds = set(get_args(Finding.model_fields["kind"].annotation))
    assert kinds == set(KINDS) == set(ADVICE)


def test_what_was_measured_is_told() -> None:
    tested = ContractOutcome(
        duration_seconds=2.0, requests=200, operations=31, operations_reached=28, operations_new=5,
        faults={"crash": 1, "timeout": 2}, faults_new={"critical": 1}, still_there=2, fixed=4, restarts=1,
    )  # fmt: skip
    assert highlights(tested) == {
        "requests": "200", "operations reached": "28 of 31", "faults": "3", "new": "1", "fixed": "4",
    }  # fmt: skip
    probed = DataOutcome(duration_seconds=1.0, requests=60, valid=40, accepted=30, behaviours=12)
    assert highlights(probed) == {"requests": "60", "accepted": "30 of 40", "new behaviours": "12"}


def test_what_was_not_measured_is_not_told() -> None:
    assert highlights(ContractOutcome(duration_seconds=2.0, failed="no")) == {"problem": "no"}
    assert highlights(DataOutcome(duration_seconds=2.0, failed="no")) == {"problem": "no"}
