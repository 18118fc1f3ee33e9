"""How a request is made of what is known: what is there now, what worked before, what an example shows."""

from collections import Counter

from tests.skills.api.small_service import (
    Answer,
    Heard,
    contract,
    does,
    exploring,
    in_path,
    in_query,
    operation,
    record,
    served,
    told,
)

from whet.skills.api.learning.drafting import Made
from whet.skills.api.values.slots import Source

TEXT = {"type": "string"}
EXAMPLE = {"order_id": "example-order", "note": "as in the docs"}
MADE = contract({
    "/orders": {
        "get": does("200", parameters=(in_query("state"), in_query("owner"))),
        "post": does("201", body=record((), name=TEXT)),
    },
    "/orders/{order_id}": {"delete": does("204", "404", parameters=(in_path("order_id", "string"),))},
    "/bills": {"post": does("201", "422", body={**record(("order_id", "note"), order_id=TEXT, note=TEXT),
                                               "example": EXAMPLE})},
    "/pays": {"post": does("201", body=record(("order_id", "note"), order_id={**TEXT, "example": "o-1"}, note=TEXT))},
    "/login": {"post": does("200", "401", body=record(("name", "word"), name={**TEXT, "example": "ann"},
                                                    word={**TEXT, "example": "secret"}))},
})  # fmt: skip
ORDERS, BILLS, LOGIN = (operation(MADE, name) for name in ("POST /orders", "POST /bills", "POST /login"))


def anything(_: Heard) -> Answer:
    return 200, {}


def test_what_an_example_names_mostly_gives_way_to_what_is_there() -> None:
    with served(anything) as small, exploring(MADE, small) as explorer:
        explorer.entities.take_in(told(ORDERS, 201, {"id": "order-1234567"}))
        made = [explorer.drafting.new(BILLS) for _ in range(200)]
        shown = [one for one in made if one.sources.get("body") is Source.EXAMPLE]
        bodies = [one.draft.body for one in shown if isinstance(one.draft.body, dict)]
    named = Counter(body["order_id"] for body in bodies)
    assert named["order-1234567"] > named["example-order"] > 0
    assert {body["note"] for body in bodies} == {EXAMPLE["note"]}
    taken = [one.taken["body.order_id"].entity.kind for one in shown if "body.order_id" in one.taken]
    assert taken == ["/orders"] * named["order-1234567"]  # and it is known where from


def test_before_anything_worked_all_examples_are_taken_at_once_now_and_then() -> None:
    """A name and a password belong together: one in nine would be right by chance, if each were drawn alone."""
    with served(anything) as small, exploring(MADE, small) as explorer:
        for place in ("body.name", "body.word"):
            for _ in range(20):  # examples were no good alone
                explorer.sources.tell(LOGIN.id, {place: Source.EXAMPLE}, 0.0)
        bodies = [explorer.drafting.new(LOGIN).draft.body for _ in range(200)]
        together = sum(body == {"name": "ann", "word": "secret"} for body in bodies)
        explorer.drafting.remember(explorer.drafting.new(LOGIN), ok=True)
        later = [explorer.drafting.new(LOGIN).draft.body for _ in range(200)]
    assert 20 < together < 80
    assert sum(body == {"name": "ann", "word": "secret"} for body in later) < together / 2


def test_what_worked_once_and_is_refused_again_and_again_is_let_go() -> None:
    with served(anything) as small, exploring(MADE, small) as explorer:
        drafting = explorer.drafting
        first, second = drafting.new(ORDERS), drafting.new(ORDERS)
        for made in (first, second):
            drafting.remember(made, ok=True)
        for _ in range(3):
            drafting.remember(drafting.new(ORDERS), ok=False)
        assert list(drafting.worked[ORDERS.id]) == [first, second]
        drafting.remember(drafting.new(ORDERS), ok=False)
        assert list(drafting.worked[ORDERS.id]) == [second]
        drafting.remember(second, ok=True)
        for _ in range(3):  # they begin anew
            drafting.remember(drafting.new(ORDERS), ok=False)
        assert len(drafting.worked[ORDERS.id]) == 2


def test_what_a_recipe_wrote_down_mostly_names_what_is_there_now() -> None:
    """A flow that was there when it worked is gone; what is no reference stays as it was."""
    with served(anything) as small, exploring(MADE, small) as explorer:
        explorer.entities.take_in(told(ORDERS, 201, {"id": "order-1234567"}))
        sources = {"body": Source.CONSTRAINED, "body.order_id": Source.EXAMPLE, "body.note": Source.REALISTIC}
        old = Made(explorer.drafting.new(operation(MADE, "POST /pays")).draft, sources)
        anew = [explorer.drafting._anew(old) for _ in range(200)]
    named = Counter(one.draft.body["order_id"] for one in anew if isinstance(one.draft.body, dict))
    assert named["order-1234567"] > named["o-1"] > 20
    assert all(one.sources["body.note"] is not Source.OBSERVED for one in anew)


def test_a_list_that_worked_is_read_without_filters_now_and_then() -> None:
    """There may be more in it by now."""
    listing = operation(MADE, "GET /orders")
    with served(anything) as small, exploring(MADE, small) as explorer:
        for name in ("state", "owner"):  # filters are always accepted
            for _ in range(50):
                explorer.sources.tell(listing.id, {f"query.{name}": Source.CONSTRAINED}, 1.0)
        explorer.drafting.remember(explorer.drafting.new(listing), ok=True)
        asked = [len(explorer.drafting.new(listing).draft.query) for _ in range(300)]
    assert 60 < asked.count(0) < 200
    assert any(asked)


def test_a_name_that_was_made_up_deletes_nobody_before_the_end() -> None:
    """What was there before may be called 1, as often as not."""
    delete = operation(MADE, "DELETE /orders/{order_id}")
    with served(anything) as small, exploring(MADE, small) as explorer:
        guessed = [explorer.drafting.new(delete) for _ in range(30)]
        assert not any("path.order_id" in made.taken for made in guessed)
        before = {explorer._spare(made, ending=False).draft.path["order_id"] for made in guessed}
        at_the_end = [explorer._spare(made, ending=True).draft.path for made in guessed]
        explorer.entities.take_in(told(ORDERS, 201, {"id": "order-1234567"}))
        known = explorer.drafting.new(delete)
        assert known.draft.path["order_id"] == "order-1234567"
        assert explorer._spare(known, ending=False) is known
    assert not before & {made.draft.path["order_id"] for made in guessed}
    assert at_the_end == [made.draft.path for made in guessed]
