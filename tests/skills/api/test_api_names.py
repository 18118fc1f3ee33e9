"""Field names: their words, their likeness, and what a slot asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.skills.api.names import abbreviates, asked_for, cosine, is_identity, likeness, words

NAMES = st.text(max_size=20) | st.from_regex(r"[a-z]+([_-][a-z]+|[A-Z][a-z]+){0,3}", fullmatch=True)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("flowRunIds", ("flow", "run", "id")),
        ("order_id", ("order", "id")),
        ("X-Request-ID", ("x", "request", "id")),
        ("HTTPServer2", ("http", "server", "2")),
        ("categories", ("category",)),
        ("boxes", ("box",)),
        ("addresses", ("address",)),
        ("status", ("status",)),
        ("analysis", ("analysis",)),
        ("class", ("class",)),
    ],
)
def test_words(name: str, parts: tuple[str, ...]) -> None:
    assert words(name) == parts


@given(NAMES)
def test_words_are_lower_case_and_stay_what_they_are(name: str) -> None:
    parts = words(name)
    assert all(part and part == part.lower() for part in parts)
    assert words("_".join(parts)) == tuple(word for part in parts for word in words(part))


@given(NAMES, NAMES)
def test_the_likeness_of_letters_is_symmetric_and_greatest_with_itself(one: str, other: str) -> None:
    assert cosine(one, other) == pytest.approx(cosine(other, one))
    assert -1e-9 <= cosine(one, other) <= 1 + 1e-9
    assert cosine(one, one) == pytest.approx(1.0)


@given(NAMES, NAMES, NAMES, NAMES)
def test_likeness_is_a_chance(wanted: str, noun: str, field: str, kind: str) -> None:
    assert 0.0 <= likeness(wanted, noun, field, kind) <= 1.0


@given(NAMES, NAMES)
def test_what_is_asked_for_names_each_word_once(wanted: str, noun: str) -> None:
    found = asked_for(wanted, noun)
    assert len(found) == len(set(found))
    assert set(found) <= {*words(wanted), *words(noun)}


def test_an_id_under_orders_is_the_id_of_an_order() -> None:
    right = likeness("id", "orders", "id", "/orders")
    assert right > likeness("id", "orders", "id", "/customers")
    assert likeness("pk", "orders", "id", "/orders") > 0.6 > likeness("pk", "orders", "id", "/customers")
    assert right > likeness("id", "orders", "customer_id", "/orders")
    assert right > likeness("id", "orders", "id", "/orders /lines")
    assert likeness("order_id", "returns", "id", "/orders") > likeness("order_id", "returns", "id", "/returns")
    assert likeness("order_id", "returns", "order_id", "/anything") > 0.8


def test_a_field_that_says_whose_identity_it_is_counts_anywhere() -> None:
    """A shipment's `order_id` opens /orders/{id}."""
    assert likeness("id", "orders", "order_id", "/shipments") > 0.6 > likeness("id", "orders", "id", "/shipments")


def test_a_name_nearly_the_same_is_nearer_than_another() -> None:
    assert cosine("organisation", "organization") > 0.5 > cosine("organisation", "customer")


def test_an_inner_identity_is_that_of_what_it_stands_in() -> None:
    """A flow run's `state.id` is no flow run's id, but a flow run state's; `data` is a mere wrapper."""
    assert (
        likeness("id", "flow_runs", "id", "/flow_runs")
        > 0.8
        > 0.2
        > likeness("id", "flow_runs", "state.id", "/flow_runs")
    )
    assert likeness("id", "flow_run_states", "state.id", "/flow_runs") > 0.8
    assert likeness("id", "flow_run_states", "state_id", "/flow_runs") > 0.8
    assert likeness("id", "buckets", "data.id", "/buckets") > 0.8


def test_a_task_run_is_no_flow_run_but_a_queue_may_be_a_work_queue() -> None:
    assert likeness("id", "flow_runs", "id", "/task_runs") < 0.4
    assert likeness("work_queue_id", "pools", "id", "/queues") > 0.7


@pytest.mark.parametrize(("short", "long", "is_short"), [
    ("conn", "connection", True), ("connection", "conn", False), ("c", "connection", False), ("conn", "conn", False),
])  # fmt: skip
def test_a_word_in_short_is_how_a_longer_one_begins(short: str, long: str, is_short: bool) -> None:
    assert abbreviates(short, long) == is_short


def test_what_is_named_in_short_is_meant_less_surely_than_what_is_named_in_full() -> None:
    full, short, other = (likeness("id", wanted, "id", "connections") for wanted in ("connection", "conn", "cat"))
    assert full > short > 0.7 > other
    assert likeness("conn_id", "", "connection_id", "records") > 0.5
    assert likeness("cred_ex_id", "", "credential_exchange_id", "records") > 0.5
    assert likeness("id", "co", "id", "connections") < 0.5  # two letters may be short for anything


def test_either_identity_will_do_where_the_slot_says_so() -> None:
    for field in ("id", "name"):
        assert likeness("id_or_name", "limits", field, "/limits") > 0.8
    assert asked_for("id_or_name", "limits") == ("limit",)
    assert asked_for("order_id_or_number", "returns") == ("order",)


def test_identities() -> None:
    assert is_identity("uuid")
    assert not is_identity("colour")
    assert asked_for("order_id", "returns") == ("order",)
    assert asked_for("id", "orders") == ("order",)
    assert asked_for("colour", "cars") == ("colour",)
