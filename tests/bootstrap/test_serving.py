"""A plan is kept to: who gets broken requests, and who does not."""

from collections.abc import Iterator

import pytest
from examples.api.running import running

from whet.bootstrap.api import Asked, Visit, prepare
from whet.bootstrap.serving import bind
from whet.core.services import ServicePlan
from whet.skills.api.campaign import Budget
from whet.skills.api.values.slots import Source

REQUESTS = 90


@pytest.fixture(scope="module")
def document() -> Iterator[str]:
    with running("none") as service:
        yield service.document


@pytest.fixture
def visit(document: str) -> Iterator[Visit]:
    asked = Asked(document, budget=Budget(REQUESTS), headers=(("X-Api-Key", "library-demo-key"),), seed=2)
    made = prepare(asked, None)
    yield made
    made.client.close()


def broken(visit: Visit) -> set[str]:
    """The operations that got mutated requests."""
    return {one.operation.id for one in visit.campaign.turns() if one.draft.mutation is not None}


def plan(mutate: str, lean_on: str | None = None) -> ServicePlan:
    return ServicePlan.model_validate({"requests": REQUESTS, "seconds": 60.0, "mutate": mutate, "lean_on": lean_on})


def test_every_operation_may_get_broken_requests(visit: Visit) -> None:
    bind(visit, plan("all"), set())
    assert len(broken(visit)) > 3


def test_none_does_when_none_is_to(visit: Visit) -> None:
    bind(visit, plan("none", "boundary"), {"GET /books"})
    assert visit.explorer.sources.preferred is Source.BOUNDARY
    assert broken(visit) == set()


def test_only_what_changed_does(visit: Visit) -> None:
    bind(visit, plan("changed"), {"GET /books", "POST /members"})
    assert visit.explorer.sources.preferred is None
    assert broken(visit) == {"GET /books", "POST /members"}
