"""A cause is the same for the same root, whatever ids and times come with it, and is found at a bounded cost."""

import json
import re
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.skills.api.oracles.made_service import CONTRACT, GOOD, SCHEMAS, STORED, answer, draft, judge

from whet.skills.api.oracles.causes import by_root, error_signature, plain, root
from whet.skills.api.oracles.symptoms import Symptoms
from whet.skills.api.oracles.tracebacks import Raised, raised

PYTHON = """Traceback (most recent call last):
  File "/srv/app/.venv/lib/python3.11/site-packages/starlette/routing.py", line 77, in app
    response = await func(request)
  File "/srv/app/shop/orders.py", line 41, in total_of
    return sum(line.price for line in order.lines)
  File "/usr/lib/python3.11/decimal.py", line 5, in __add__
    raise
decimal.InvalidOperation: [<class 'decimal.ConversionSyntax'>]
"""
JAVA = """java.lang.RuntimeException: request failed
\tat org.springframework.web.Dispatcher.run(Dispatcher.java:99)
\tat com.shop.Web.handle(Web.java:12)
Caused by: java.lang.NullPointerException: Cannot invoke "Order.total()"
\tat java.base/java.util.Objects.requireNonNull(Objects.java:233)
\tat com.shop.Orders.total(Orders.java:41)
\t... 12 more
"""
NODE = """TypeError: Cannot read properties of undefined (reading 'total')
    at total (/srv/shop/orders.js:41:13)
    at Layer.handle (/srv/shop/node_modules/express/lib/router/layer.js:95:5)
"""
DOTNET = """System.NullReferenceException: Object reference not set to an instance of an object.
   at System.Linq.Enumerable.Sum(IEnumerable source)
   at Shop.Orders.Total(Order order) in /src/Orders.cs:line 41
"""
GO = """panic: runtime error: index out of range [3] with length 3

goroutine 19 [running]:
panic({0x1, 0x2})
\t/usr/local/go/src/runtime/panic.go:884 +0x212
main.total(0xc000012, 0x3)
\t/srv/shop/orders.go:41 +0x1d
"""
RUST = "thread 'main' panicked at src/orders.rs:41:13:\nindex out of bounds: the len is 3"
RUBY = "NoMethodError (undefined method `total' for nil:NilClass):\n\napp/models/order.rb:41:in `total'\n"
PHP = (
    "PHP Fatal error: Uncaught TypeError: bad in /srv/shop/orders.php:41\nStack trace:\n#0 /srv/shop/index.php(3): x()"
)


@pytest.mark.parametrize(
    ("text", "exception", "frame"),
    [
        (PYTHON, "InvalidOperation", "orders.py:total_of"),
        (JAVA, "NullPointerException", "com.shop.Orders.total"),
        (NODE, "TypeError", "orders.js:total"),
        (DOTNET, "NullReferenceException", "Shop.Orders.Total"),
        (GO, "panic", "orders.go:main.total"),
        (RUST, "panic", "orders.rs:41"),
        (RUBY, "NoMethodError", "order.rb:total"),
        (PHP, "TypeError", "orders.php"),
    ],
)
def test_the_exception_and_the_applications_deepest_frame(text: str, exception: str, frame: str) -> None:
    assert raised(text) == Raised(exception, frame)


def test_a_traceback_where_everything_is_a_library_names_the_deepest_frame() -> None:
    text = PYTHON.replace("/srv/app/shop/", "/x/site-packages/shop/")
    assert raised(text) == Raised("InvalidOperation", "decimal.py:__add__")


def test_prose_is_no_traceback() -> None:
    assert raised("We looked at everything. Please try again at 10:00 (or later).") is None


WRAPPED = {
    "text": PYTHON,
    "JSON": json.dumps({"detail": {"trace": PYTHON}, "time": "1"}),
    "lines": json.dumps({"stack": PYTHON.splitlines()}),
    "page": f"<html><pre>{PYTHON.replace('<', '&lt;')}</pre></html>",
}


@pytest.mark.parametrize("wrapped", WRAPPED)
def test_a_traceback_is_found_in_text_json_and_pages(wrapped: str) -> None:
    exchange = answer(draft("POST /items", body=GOOD), 500, WRAPPED[wrapped].encode(), "x/y")
    assert error_signature(exchange) == "trace InvalidOperation at orders.py:total_of"


def test_lines_do_not_matter() -> None:
    one, other = (
        answer(draft("GET /items"), 500, text.encode()) for text in (PYTHON, re.sub(r"line \d+", "line 7", PYTHON))
    )
    assert error_signature(one) == error_signature(other)


MESSAGE = "Item {} of order {} at {} failed: no row for '{}' (object at 0x{:x}), see /var/log/app/{}.log"


@settings(max_examples=200)
@given(st.data())
def test_a_cause_does_not_change_with_ids_times_and_addresses(data: st.DataObject) -> None:
    def message() -> str:
        values = (data.draw(st.uuids()), data.draw(st.integers(0, 10**12)), data.draw(st.datetimes()).isoformat(),
                  data.draw(st.text("abc xyz-_", min_size=1, max_size=30)), data.draw(st.integers(0, 2**48)),
                  data.draw(st.integers(0, 10**6)))  # fmt: skip
        return MESSAGE.format(*values)

    assert plain(message()) == plain(message())


def test_what_was_sent_and_comes_back_is_not_part_of_the_cause() -> None:
    def failing(title: str) -> str:
        made = draft("POST /items", body={"title": title, "price": 1})
        return error_signature(
            answer(made, 500, {"error": f"cannot store {title} today", "request_id": str(uuid.uuid4())})
        )

    assert failing("red cup 17") == failing("blauer Krug") == "500 cannot store <value> today"


def test_different_messages_are_different_causes() -> None:
    assert plain("cannot reach the database") != plain("cannot reach the cache")


def _failing(operation_id: str, body: bytes) -> str:
    path = {"path": {"item_id": 1}} if "{" in operation_id else {}
    (found,) = judge().judge(answer(draft(operation_id, **path), 500, body))
    return found.cause


def test_one_frame_under_many_operations_is_one_root() -> None:
    causes = [_failing(one, PYTHON.encode()) for one in ("GET /items", "GET /items/{item_id}")]
    assert len(set(causes)) == 2
    assert len(set(map(root, causes))) == 1


def test_an_error_without_a_place_says_nothing_across_operations() -> None:
    causes = {root(_failing(one, b"Internal Server Error")) for one in ("GET /items", "GET /items/{item_id}")}
    assert len(causes) == 2


def test_a_shared_schema_that_is_broken_is_one_root() -> None:
    judging = judge()
    wrong = {**STORED, "price": "free"}
    found = [*judging.judge(answer(draft("GET /items"), 200, [wrong])),
             *judging.judge(answer(draft("GET /items/{item_id}", path={"item_id": 7}), 200, wrong))]  # fmt: skip
    assert len(found) == 2
    assert len(by_root(found)) == 1


@pytest.mark.parametrize("body", [
    b"\xff\xfe" * 500_000, b"[" * 1_000_000, b'{"a":' * 200_000, b"'" * 1_000_000, b'"' * 999_999, b"<" * 1_000_000,
    b"/a" * 500_000, b"a@" * 500_000, b"aError." * 150_000, b"at x(" * 200_000, b"File \"" * 150_000, b"1" * 1_000_000,
    b"a.b::c\\" * 100_000, b"<script " * 120_000, json.dumps(["e"] * 20_000).encode(), b" at a\n" * 150_000,
])  # fmt: skip
def test_hostile_bodies_cost_little(body: bytes) -> None:
    """No clock: a pattern that backtracks would not come back at all."""
    signature = error_signature(answer(draft("GET /items"), 500, body))
    assert len(signature) < 400


class TestOnePlace:
    """A place that is not checked is one thing to repair, whatever was sent there."""

    def causes(self, *bodies: Any) -> set[str]:
        drafts = [draft("POST /items", body=body, broken=f"{body} is wrong") for body in bodies]
        told = [one for made in drafts for one in Symptoms(CONTRACT, SCHEMAS).of(answer(made, 201, STORED))]
        return {root(one.cause).partition(" | ")[2] for one in told}

    def test_whatever_rule_the_value_breaks(self) -> None:
        prices: tuple[Any, ...] = (-1, 1_001, "three", "3", {"$gt": ""}, None, True, [])
        assert self.causes(*({**GOOD, "price": price} for price in prices)) == {"POST /items | body.price"}

    def test_entries_of_a_list_are_one_place(self) -> None:
        tags = ([1], ["a", {}], ["a", "b", None])
        assert self.causes(*({**GOOD, "tags": each} for each in tags)) == {"POST /items | body.tags[]"}

    def test_what_is_missing_is_something_else_than_what_is_wrong(self) -> None:
        assert self.causes({"price": 3}, {"title": "cup"}, {**GOOD, "title": ""}, {**GOOD, "price": "x"}) == {
            "POST /items | body.title missing", "POST /items | body.price missing",
            "POST /items | body.title", "POST /items | body.price",
        }  # fmt: skip
        assert self.causes([], 5) == {"POST /items | body"}

    def test_parameters(self) -> None:
        drafts = [draft("GET /items", query={"limit": limit}, broken="it is") for limit in (0, 101, "many")]
        told = [one for made in drafts for one in Symptoms(CONTRACT, SCHEMAS).of(answer(made, 200, []))]
        assert {one.cause for one in told} == {"invalid-input-accepted | GET /items | query.limit"}

    def test_one_wrong_value_in_an_answer_is_one_fault(self) -> None:
        """It has the wrong type and is therefore none of the choices either."""
        told = Symptoms(CONTRACT, SCHEMAS).of(answer(draft("GET /items"), 200, [{**STORED, "size": 5}]))
        assert [one.cause.rpartition("/")[2] for one in told] == ["size type"]
