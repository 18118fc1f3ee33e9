"""Invoices as plain text."""

from datetime import date
from decimal import Decimal

from shop.orders import Order, Status
from shop.prices import show

WIDTH = 48


class NumberRange:
    """Invoice numbers without gaps, starting again each year."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}

    def next(self, day: date) -> str:
        self._last[day.year] = self._last.get(day.year, 0) + 1
        return f"{day.year}-{self._last[day.year]:04d}"


def render(order: Order, number: str, day: date) -> str:
    if order.status is Status.PLACED:
        raise ValueError(f"order {order.number} is not paid yet; invoices are for paid orders")
    rows = [f"Invoice {number}", f"{day:%d.%m.%Y}", "-" * WIDTH]
    rows += [_row(f"{line.quantity} × {_short(line.product.name)}", line.net) for line in order.lines]
    rows += ["-" * WIDTH, _row("Net", order.goods), _row("VAT", order.tax)]
    if order.shipping:
        rows.append(_row("Shipping", order.shipping))
    rows.append(_row("Total", order.total))
    if order.refunded:
        rows.append(_row("Refunded", -order.refunded))
    return "\n".join(rows)


def _row(label: str, amount: Decimal) -> str:
    shown = show(amount)
    return label.ljust(WIDTH - len(shown)) + shown


def _short(name: str, width: int = 30) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"
