"""Things that belong together are used together, and what was refused again and again is made anew."""

import random
from dataclasses import replace

import pytest
from tests.skills.api.small_service import contract, does, operation, record, told

from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.learning.company import Company
from whet.skills.api.learning.dependencies import Dependencies
from whet.skills.api.learning.drafting import Drafting, Made
from whet.skills.api.learning.entities import Entities, Entity
from whet.skills.api.learning.sources import Sources
from whet.skills.api.learning.supply import Supply
from whet.skills.api.values.slots import Slot

ID = {"type": "string"}
SHOP = contract({
    "/customers": {"post": does("201", body=record(name=ID))},
    "/orders": {"post": does("201", body=record(("customer_id",), customer_id=ID))},
    "/returns": {"post": does("201", body=record(("order_id", "customer_id"), order_id=ID, customer_id=ID))},
})  # fmt: skip
CUSTOMERS, ORDERS = operation(SHOP, "POST /customers"), operation(SHOP, "POST /orders")


def entities() -> Entities:
    """Three orders, each of a customer of its own."""
    known = Entities(random.Random(0))
    for number in range(3):
        known.take_in(told(CUSTOMERS, 201, {"id": f"customer-{number}"}))
        known.take_in(told(ORDERS, 201, {"id": f"order-{number}", "customer_id": f"customer-{number}"}))
    return known


def test_one_goes_with_those_it_names_and_those_that_name_it() -> None:
    known = entities()
    (one, other, _), (order, *_) = (known.alive(kind) for kind in ("/customers", "/orders"))
    company = Company()
    assert not company
    company.join(order)
    assert company.welcomes(order)
    assert company.welcomes(one)
    assert not company.welcomes(other)
    company = Company()
    company.join(one)
    assert company.welcomes(order)
    assert not company.welcomes(Entity("/customers", {}, {"name": "nobody"}))


def test_a_request_names_an_order_and_its_own_customer() -> None:
    known = entities()
    dependencies = Dependencies(random.Random(1), known)
    slots = [Slot("POST /returns", f"body.{name}", ID, True) for name in ("order_id", "customer_id")]
    together = 0
    for _ in range(200):
        company = Company()
        values = []
        for slot in slots:
            chosen = dependencies.choose(slot, {}, company)
            assert chosen is not None
            edge, entity = chosen
            company.join(entity)
            values.append(str(entity.fields[edge.field])[-1])
        together += values[0] == values[1]
    assert together > 180


def maker_of(known: Entities, reached: bool = False, refused: bool = False) -> str | None:
    """What is made before POST /orders, when customers were made before."""
    rng = random.Random(2)
    dependencies = Dependencies(rng, known)
    drafting = Drafting(Schemas(SHOP), rng, known, dependencies, Sources(rng, dependencies))
    supply = Supply(SHOP.operations, known, dependencies, drafting)
    drafting.remember(Made(drafting.new(CUSTOMERS).draft), ok=True)
    if reached:
        drafting.remember(Made(drafting.new(ORDERS).draft), ok=True)
    if refused:
        supply.tell(replace(told(ORDERS, 409), number=7))
    made = next(one for one in (drafting.new(ORDERS) for _ in range(50)) if "body.customer_id" in one.taken)
    found = supply.maker(made)
    return found.id if found else None


def customer(number: int) -> Entities:
    known = Entities(random.Random(0))
    known.take_in(replace(told(CUSTOMERS, 201, {"id": "customer-0"}), number=number))
    return known


def test_after_a_refusal_what_it_was_built_on_is_made_anew() -> None:
    assert maker_of(customer(3)) is None
    assert maker_of(customer(3), refused=True) == "POST /customers"
    assert maker_of(customer(8), refused=True) is None  # that one is new
    assert maker_of(customer(3), refused=True, reached=True) is None  # it is known how that operation works


def test_something_worse_is_not_taken_where_the_right_thing_can_be_made() -> None:
    known = customer(3)
    known.take_in(told(ORDERS, 201, {"customer_number": "customer-9"}))
    assert maker_of(known) is None
    known.alive("/customers")[0].alive = False
    assert maker_of(known) == "POST /customers"


@pytest.mark.parametrize("left", ["alive", "doubtful"])
def test_a_search_that_finds_nothing_is_not_asked_for_ever(left: str) -> None:
    """Nor where it found something before, which is doubted since."""
    known = customer(3)
    setattr(known.alive("/customers")[0], left, left == "doubtful")
    rng = random.Random(2)
    dependencies = Dependencies(rng, known)
    drafting = Drafting(Schemas(SHOP), rng, known, dependencies, Sources(rng, dependencies))
    supply = Supply(SHOP.operations, known, dependencies, drafting)
    drafting.remember(Made(drafting.new(CUSTOMERS).draft), ok=True)
    assert supply.maker(drafting.new(ORDERS)) is CUSTOMERS
    for number in range(20, 25):
        supply.tell(told(CUSTOMERS, 200, [], number=number))
    assert supply.maker(drafting.new(ORDERS)) is None
    known.take_in(told(CUSTOMERS, 201, {"id": "customer-1"}, number=25))
    supply.tell(told(CUSTOMERS, 201, {"id": "customer-1"}, number=25))
    known.doubt(known.alive("/customers")[-1])
    assert supply.maker(drafting.new(ORDERS)) is CUSTOMERS  # it does make something
