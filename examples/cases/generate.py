"""Test cases for the service, as records in the form of Qase: `python examples/cases/generate.py OUT [--seed N]`.

They say what to send and what should come back; they have no outcomes, because nobody has run them. What should come
back is worked out by orders.py, which has no faults. Equal seeds give equal files.
"""

import argparse
import json
import random
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from orders import LONGEST_NOTE, MOST_ITEMS, MOST_PIECES, Request, Shop, answer

Kinds = dict[str, Any]  # what a value is called: the value; the first two are ordinary
_ABSENT = object()

WHO: Kinds = {"a customer": "customer", "an admin": "admin", "a visitor who is not signed in": None,
              "a customer whose token has expired": "expired"}  # fmt: skip
LIMITS: Kinds = {"10": 10, "of 50": 50, "1": 1, "99": 99, "at the maximum": MOST_ITEMS,
                 "above the maximum": MOST_ITEMS + 1, "zero": 0, "negative": -1, "in words": "ten", "huge": 10**9,
                 "empty": ""}  # fmt: skip
SORTS: Kinds = {"none": _ABSENT, "by name": "name", "by price": "price", "unknown": "colour", "in capitals": "NAME"}
ITEMS: Kinds = {"lamp": 1, "desk": 3, "chair": 2, "unknown": 77, "missing": _ABSENT, "null": None, "as text": "lamp"}
QUANTITIES: Kinds = {"2": 2, "5": 5, "1": 1, "at the maximum": MOST_PIECES, "above the maximum": MOST_PIECES + 1,
                     "zero": 0, "negative": -3, "in words": "two", "fractional": 1.5, "missing": _ABSENT,
                     "null": None}  # fmt: skip
NOTES: Kinds = {"none": _ABSENT, "short": "Please ring", "empty": "", "of the greatest length": "n" * LONGEST_NOTE,
                "too long": "n" * (LONGEST_NOTE + 1), "much too long": "n" * 600, "beyond ASCII": "Grüße"}  # fmt: skip
COUPONS: Kinds = {"none": _ABSENT, "valid": "SAVE10", "too short": "AB", "in small letters": "save10",
                  "beyond ASCII": "ÄÖÜ10", "empty": ""}  # fmt: skip
PRICES: Kinds = {"25": 25, "9.99": 9.99, "zero": 0, "negative": -5, "at the maximum": 10_000,
                 "above the maximum": 10_001, "missing": _ABSENT, "as text": "cheap"}  # fmt: skip
AMOUNTS: Kinds = {"40": 40, "12.50": 12.5, "zero": 0, "negative": -1, "huge": 10**7, "missing": _ABSENT}
CURRENCIES: Kinds = {"EUR": "EUR", "USD": "USD", "unknown": "XYZ", "missing": _ABSENT, "in small letters": "eur"}
IDS: Kinds = {"1": 1, "4": 4, "6": 6, "0": 0, "unknown": 9999, "in words": "lamp", "negative": -1}


class Author:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - nothing is kept secret with it

    def pick(self, kinds: Kinds, ordinary: float = 0.55) -> tuple[str, Any]:
        names = list(kinds)
        name = self._random.choice(names[:2] if self._random.random() < ordinary else names[2:])
        return name, kinds[name]

    def page(self) -> dict[str, Any]:
        (limit, n), (sort, by), who = self.pick(LIMITS, 0.2), self.pick(SORTS), self.pick(WHO)
        query = f"?limit={n}" + ("" if by is _ABSENT else f"&sort={by}")
        return _case(f"List items, limit {limit}, sorting {sort}", "Items", who, [("GET", f"/items{query}", None)])

    def item(self) -> dict[str, Any]:
        (name, number), who = self.pick(IDS, 0.4), self.pick(WHO)
        return _case(f"Show the item with number {name}", "Items", who, [("GET", f"/items/{number}", None)])

    def price(self) -> dict[str, Any]:
        (name, number), (price, value) = self.pick(IDS, 0.8), self.pick(PRICES)
        who = self.pick({"an admin": "admin", "the admin": "admin", **WHO}, 0.6)
        steps = [("PUT", f"/items/{number}", _body(price=value)), ("GET", f"/items/{number}", None)]
        return _case(f"Change item {name}, price {price}", "Items", who, steps[: self._random.choice((1, 1, 2))])

    def order(self) -> dict[str, Any]:
        picked = {"item": self.pick(ITEMS, 0.75), "quantity": self.pick(QUANTITIES, 0.6),
                  "note": self.pick(NOTES, 0.75), "coupon": self.pick(COUPONS, 0.75)}  # fmt: skip
        words = ", ".join(f"{field} {name}" for field, (name, _) in picked.items() if name != "none")
        body = _body(**{field: value for field, (_, value) in picked.items()})
        return _case(f"Create an order, {words}", "Orders", self.pick(WHO, 0.85), [("POST", "/orders", body)])

    def later(self) -> dict[str, Any]:
        """An order, and what is done with it afterwards."""
        acts = [self._act() for _ in range(self._random.choice((1, 1, 2, 2, 3)))]
        steps = [("POST", "/orders", _body(item=self.pick(ITEMS, 1)[1], quantity=self._random.randint(1, 9)))]
        who = self.pick({"a customer": "customer", "an admin": "admin"}, 1)
        words = ", then ".join(words for words, _ in acts)
        return _case(f"Create an order, then {words}", "Orders", who, steps + [step for _, step in acts])

    def _act(self) -> tuple[str, Any]:
        quantity, amount, currency = self.pick(QUANTITIES), self.pick(AMOUNTS, 0.8), self.pick(CURRENCIES, 0.7)
        pay = _body(amount=amount[1], currency=currency[1])
        return self._random.choice((
            ("look at it", ("GET", "/orders/{id}", None)),
            ("look at it", ("GET", "/orders/{id}", None)),
            ("cancel it", ("DELETE", "/orders/{id}", None)),
            ("cancel it", ("DELETE", "/orders/{id}", None)),
            (f"change it, quantity {quantity[0]}", ("PATCH", "/orders/{id}", _body(quantity=quantity[1]))),
            (f"pay it, amount {amount[0]}, currency {currency[0]}", ("POST", "/orders/{id}/payment", pay)),
        ))  # fmt: skip

    def stranger(self) -> dict[str, Any]:
        """Orders there are none of, and tokens that do not count."""
        method = self._random.choice(("GET", "DELETE", "PATCH"))
        (name, number), who = self.pick(IDS, 0.4), self.pick(WHO, 0.2)
        body = _body(quantity=3) if method == "PATCH" else None
        words = f"{method} an order that does not exist, number {name}"
        return _case(words, "Orders", who, [(method, f"/orders/{number}", body)])

    def method(self) -> dict[str, Any]:
        method, path = (
            self._random.choice(("PUT", "DELETE", "PATCH", "GET")),
            self._random.choice(("/orders", "/items", "/baskets")),
        )
        words = f"{method} {path[1:]}, a method or a path that does not exist"
        return _case(words, "Elsewhere", self.pick(WHO), [(method, path, None if method in ("GET", "DELETE") else {})])


def records(seed: int) -> list[dict[str, Any]]:
    """As people write them: suite by suite, each case once."""
    author = Author(seed)
    wanted = ((author.page, 110), (author.item, 24), (author.price, 90), (author.order, 230), (author.later, 210),
              (author.stranger, 45), (author.method, 27))  # fmt: skip
    made: dict[str, dict[str, Any]] = {}
    for write, number in wanted:
        goal = len(made) + number
        for _ in range(number * 20):
            case = write()
            if len(made) < goal:
                made.setdefault(json.dumps([case["preconditions"].partition("\n")[2], case["steps"]]), case)
    return [{"case_id": number, **case} for number, case in enumerate(made.values(), start=1)]


def _case(words: str, suite: str, who: tuple[str, Any], steps: list[tuple[str, str, Any]]) -> dict[str, Any]:
    name, token = who
    header = "" if token is None else f"\nAuthorization: Bearer {token}"
    return {
        "test_name": f"{words}, as {name}", "suite_title": suite,
        "preconditions": f"Everything is done by {name}.{header}", "steps": _steps(steps, token),
    }  # fmt: skip


def _steps(steps: list[tuple[str, str, Any]], token: str | None) -> list[dict[str, str]]:
    shop, number, made = Shop(), "", []
    for method, path, body in steps:
        split = urlsplit(path.replace("{id}", number))
        query = dict(parse_qsl(split.query, keep_blank_values=True))
        right = answer(Request(method, split.path, query, token, body), shop)
        number = str(right.body.get("id", number))
        seen = {key: right.body[key] for key in ("quantity", "price") if key in right.body and method == "GET"}
        made.append({
            "action": f"Send {method} {path}", "data": "" if body is None else json.dumps(body, ensure_ascii=False),
            "expected_result": f"Status {right.status}" + (f" with {json.dumps(seen)}" if seen else ""),
        })  # fmt: skip
    return made


def _body(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not _ABSENT}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    made = records(arguments.seed)
    arguments.out.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(made)} cases in {arguments.out}")


if __name__ == "__main__":
    main()
