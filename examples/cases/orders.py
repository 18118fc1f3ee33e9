"""What the service should answer: a small shop with items, orders and payments. No faults here; see faults.py."""

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

PRICES = {1: 20.0, 2: 35.5, 3: 120.0, 4: 8.0, 5: 64.0, 6: 15.0}
MOST_ITEMS, MOST_PIECES, LONGEST_NOTE, HIGHEST_AMOUNT = 100, 99, 255, 10_000
CURRENCIES, SORTINGS = ("EUR", "USD"), ("name", "price")
SIGNED_IN = ("customer", "admin")


class Request(NamedTuple):
    method: str
    path: str
    query: dict[str, str]
    token: str | None
    body: Any


class Reply(NamedTuple):
    status: int
    body: Any


@dataclass
class Shop:
    """What one visitor sees; every visitor begins with the same shop."""

    prices: dict[int, float] = field(default_factory=lambda: dict(PRICES))
    orders: dict[int, dict[str, Any]] = field(default_factory=dict)


class _Refused(Exception):
    def __init__(self, status: int, error: str) -> None:
        self.reply = Reply(status, {"error": error})


def answer(request: Request, shop: Shop) -> Reply:
    try:
        return _answer(request, shop)
    except _Refused as refused:
        return refused.reply


def _answer(request: Request, shop: Shop) -> Reply:
    for pattern, methods in _ROUTES:
        if found := re.fullmatch(pattern, request.path):
            if request.method not in methods:
                raise _Refused(405, "this method is not allowed here")
            return methods[request.method](request, shop, *found.groups())
    raise _Refused(404, "there is nothing here")


def _list_items(request: Request, shop: Shop) -> Reply:
    limit = request.query.get("limit", "20")
    if not re.fullmatch(r"-?\d+", limit) or not 1 <= int(limit) <= MOST_ITEMS:
        raise _Refused(400, f"limit must be a whole number from 1 to {MOST_ITEMS}")
    if request.query.get("sort", "name") not in SORTINGS:
        raise _Refused(400, "sort must be name or price")
    return Reply(200, {"items": [{"id": each, "price": shop.prices[each]} for each in list(shop.prices)[: int(limit)]]})


def _show_item(_request: Request, shop: Shop, number: str) -> Reply:
    return Reply(200, {"id": _item(shop, number), "price": shop.prices[int(number)]})


def _change_item(request: Request, shop: Shop, number: str) -> Reply:
    if _visitor(request) != "admin":
        raise _Refused(403, "only an admin may change items")
    item, price = _item(shop, number), _fields(request).get("price")
    if isinstance(price, bool) or not isinstance(price, int | float) or not 0 < price <= HIGHEST_AMOUNT:
        raise _Refused(400, f"price must be above 0 and at most {HIGHEST_AMOUNT}")
    shop.prices[item] = float(price)
    return Reply(200, {"id": item, "price": shop.prices[item]})


def _create_order(request: Request, shop: Shop) -> Reply:
    _visitor(request)
    fields = _fields(request)
    if fields.get("item") not in shop.prices:
        raise _Refused(400, "item must be the number of an item")
    quantity = _quantity(fields)
    if len(str(fields.get("note", ""))) > LONGEST_NOTE:
        raise _Refused(400, f"note must not be longer than {LONGEST_NOTE}")
    if not re.fullmatch(r"[A-Z0-9]{4,10}", str(fields.get("coupon", "NONE"))):
        raise _Refused(400, "coupon must be 4 to 10 capital letters or digits")
    number = len(shop.orders) + 1
    shop.orders[number] = {"id": number, "item": fields["item"], "quantity": quantity, "state": "open"}
    return Reply(201, dict(shop.orders[number]))


def _show_order(request: Request, shop: Shop, number: str) -> Reply:
    return Reply(200, dict(_order(request, shop, number)))


def _change_order(request: Request, shop: Shop, number: str) -> Reply:
    order = _order(request, shop, number)
    quantity = _quantity(_fields(request))
    _must_be_open(order)
    order["quantity"] = quantity
    return Reply(200, dict(order))


def _cancel_order(request: Request, shop: Shop, number: str) -> Reply:
    order = _order(request, shop, number)
    _must_be_open(order)
    order["state"] = "cancelled"
    return Reply(200, dict(order))


def _pay(request: Request, shop: Shop, number: str) -> Reply:
    order, fields = _order(request, shop, number), _fields(request)
    amount = fields.get("amount")
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 < amount <= HIGHEST_AMOUNT:
        raise _Refused(400, f"amount must be above 0 and at most {HIGHEST_AMOUNT}")
    if fields.get("currency") not in CURRENCIES:
        raise _Refused(400, "currency must be EUR or USD")
    _must_be_open(order)
    order["state"] = "paid"
    return Reply(200, dict(order))


def _visitor(request: Request) -> str:
    if request.token not in SIGNED_IN:
        raise _Refused(401, "sign in first" if request.token is None else "sign in again")
    return request.token


def _fields(request: Request) -> dict[str, Any]:
    if not isinstance(request.body, dict):
        raise _Refused(400, "the body must be a JSON object")
    return request.body


def _item(shop: Shop, number: str) -> int:
    if not number.isdigit() or int(number) not in shop.prices:
        raise _Refused(404, "there is no such item")
    return int(number)


def _order(request: Request, shop: Shop, number: str) -> dict[str, Any]:
    _visitor(request)
    if not number.isdigit() or int(number) not in shop.orders:
        raise _Refused(404, "there is no such order")
    return shop.orders[int(number)]


def _quantity(fields: dict[str, Any]) -> int:
    quantity = fields.get("quantity")
    if isinstance(quantity, bool) or not isinstance(quantity, int) or not 1 <= quantity <= MOST_PIECES:
        raise _Refused(400, f"quantity must be a whole number from 1 to {MOST_PIECES}")
    return quantity


def _must_be_open(order: dict[str, Any]) -> None:
    if order["state"] != "open":
        raise _Refused(409, f"the order is {order['state']}")


_ROUTES = (
    ("/items", {"GET": _list_items}),
    ("/items/([^/]+)", {"GET": _show_item, "PUT": _change_item}),
    ("/orders", {"POST": _create_order}),
    ("/orders/([^/]+)", {"GET": _show_order, "PATCH": _change_order, "DELETE": _cancel_order}),
    ("/orders/([^/]+)/payment", {"POST": _pay}),
)
