"""Faults that can be planted. Each one turns what would be right into something else, for certain requests only."""

import random
import re
from collections.abc import Callable
from typing import Any

from orders import LONGEST_NOTE, MOST_ITEMS, MOST_PIECES, Reply, Request, Shop, answer

Fault = Callable[[Request, Reply, Shop], Reply | None]
PLANTED = 9


def planted(seed: int) -> list[str]:
    return sorted(random.Random(seed).sample(sorted(FAULTS), PLANTED))  # noqa: S311 - nothing is kept secret with it


def faulty_answer(request: Request, shop: Shop, names: list[str]) -> Reply:
    right = answer(request, shop)
    wrong = (FAULTS[name](request, right, shop) for name in names)
    return next((reply for reply in wrong if reply is not None), right)


def _crash(error: str) -> Reply:
    return Reply(500, {"error": error})


def _largest_page(request: Request, right: Reply, _: Shop) -> Reply | None:
    largest = request.path == "/items" and request.query.get("limit") == str(MOST_ITEMS)
    return _crash("IndexError in list_items") if largest and right.status == 200 else None


def _empty_page(request: Request, right: Reply, _: Shop) -> Reply | None:
    wrong = request.path == "/items" and request.query.get("limit") == "0"
    return Reply(200, {"items": []}) if wrong and right.status == 400 else None


def _unknown_sorting(_request: Request, right: Reply, _: Shop) -> Reply | None:
    return _crash("KeyError in sorted_items") if _refused(right, 400, "sort ") else None


def _item_that_is_no_number(request: Request, _right: Reply, _: Shop) -> Reply | None:
    wrong = re.fullmatch("/items/[a-z]+", request.path) and request.method == "GET"
    return _crash("ValueError in show_item") if wrong else None


def _anyone_changes_items(_request: Request, right: Reply, _: Shop) -> Reply | None:
    return Reply(200, {"changed": True}) if _refused(right, 403) else None


def _free_item(request: Request, right: Reply, _: Shop) -> Reply | None:
    free = _refused(right, 400, "price ") and _field(request, "price") == 0
    return _crash("ZeroDivisionError in margin") if free else None


def _missing_item(request: Request, right: Reply, _: Shop) -> Reply | None:
    missing = _refused(right, 400, "item ") and "item" not in request.body
    return _crash("KeyError in create_order") if missing else None


def _nothing_ordered(request: Request, right: Reply, _: Shop) -> Reply | None:
    nothing = request.path == "/orders" and _refused(right, 400, "quantity ") and _field(request, "quantity") == 0
    return Reply(201, {"id": 1}) if nothing else None


def _quantity_in_words(request: Request, right: Reply, _: Shop) -> Reply | None:
    words = _refused(right, 400, "quantity ") and isinstance(_field(request, "quantity"), str)
    return _crash("TypeError in quantity") if words else None


def _long_note(_request: Request, right: Reply, _: Shop) -> Reply | None:
    return _crash(f"DataError: longer than {LONGEST_NOTE}") if _refused(right, 400, "note ") else None


def _coupon_beyond_ascii(request: Request, right: Reply, _: Shop) -> Reply | None:
    beyond = _refused(right, 400, "coupon ") and not str(_field(request, "coupon")).isascii()
    return _crash("UnicodeEncodeError in coupon") if beyond else None


def _large_change_is_lost(request: Request, right: Reply, shop: Shop) -> Reply | None:
    """Answers as if all were well; only whoever looks at the order afterwards finds out."""
    if request.method == "PATCH" and right.status == 200 and right.body["quantity"] == MOST_PIECES:
        shop.orders[right.body["id"]]["quantity"] = 1
    return None


def _expired_cancels(request: Request, right: Reply, _: Shop) -> Reply | None:
    return (
        Reply(200, {"state": "cancelled"})
        if request.method == "DELETE" and _refused(right, 401, "sign in again")
        else None
    )


def _cancelled_twice(request: Request, right: Reply, _: Shop) -> Reply | None:
    twice = request.method == "DELETE" and _refused(right, 409, "the order is cancelled")
    return _crash("AssertionError in refund") if twice else None


def _paid_after_cancelling(request: Request, right: Reply, _: Shop) -> Reply | None:
    late = request.path.endswith("/payment") and _refused(right, 409, "the order is cancelled")
    return Reply(200, {"state": "paid"}) if late else None


def _missing_currency(request: Request, right: Reply, _: Shop) -> Reply | None:
    missing = _refused(right, 400, "currency ") and "currency" not in request.body
    return _crash("KeyError in pay") if missing else None


def _method_not_foreseen(request: Request, right: Reply, _: Shop) -> Reply | None:
    return _crash("NotImplementedError in dispatch") if right.status == 405 and request.path == "/orders" else None


def _refused(right: Reply, status: int, error: str = "") -> bool:
    return right.status == status and right.body["error"].startswith(error)


def _field(request: Request, name: str) -> Any:
    return request.body.get(name) if isinstance(request.body, dict) else None


FAULTS: dict[str, Fault] = {
    "largest-page": _largest_page,
    "empty-page": _empty_page,
    "unknown-sorting": _unknown_sorting,
    "item-that-is-no-number": _item_that_is_no_number,
    "anyone-changes-items": _anyone_changes_items,
    "free-item": _free_item,
    "missing-item": _missing_item,
    "nothing-ordered": _nothing_ordered,
    "quantity-in-words": _quantity_in_words,
    "long-note": _long_note,
    "coupon-beyond-ascii": _coupon_beyond_ascii,
    "large-change-is-lost": _large_change_is_lost,
    "expired-cancels": _expired_cancels,
    "cancelled-twice": _cancelled_twice,
    "paid-after-cancelling": _paid_after_cancelling,
    "missing-currency": _missing_currency,
    "method-not-foreseen": _method_not_foreseen,
}
