"""Discounts, and the codes customers type to get them."""

import random
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Protocol

from shop.prices import CENT


class Discount(Protocol):
    def reduction(self, subtotal: Decimal) -> Decimal: ...


@dataclass(frozen=True)
class Percentage:
    percent: int

    def __post_init__(self) -> None:
        if not 0 < self.percent <= 100:
            raise ValueError(f"percent must be 1 to 100, not {self.percent}")

    def reduction(self, subtotal: Decimal) -> Decimal:
        return (subtotal * self.percent / 100).quantize(CENT)


@dataclass(frozen=True)
class Voucher:
    """A fixed amount, never more than the cart is worth."""

    amount: Decimal
    minimum: Decimal = Decimal("0.00")

    def reduction(self, subtotal: Decimal) -> Decimal:
        if subtotal < self.minimum:
            return Decimal("0.00")
        return min(self.amount, subtotal)


@dataclass(frozen=True)
class Campaign:
    """Another discount, within dates (both included)."""

    discount: Discount
    first: date
    last: date

    def on(self, day: date) -> Discount | None:
        return self.discount if self.first <= day <= self.last else None


_codes: dict[str, Discount] = {}


def register(code: str, discount: Discount) -> None:
    """Make a code known to every cart of this process."""
    if not code.isascii() or not code.isalnum():
        raise ValueError(f"a code is made of letters and digits, not {code!r}")
    _codes[code.upper()] = discount


def redeem(code: str) -> Discount:
    try:
        return _codes[code.strip().upper()]
    except KeyError:
        raise LookupError(f"the code {code!r} is not valid") from None


def known_codes() -> list[str]:
    return sorted(_codes)


def bulk_codes(prefix: str, count: int, discount: Discount) -> list[str]:
    """Register `count` codes for a mailing: the prefix and three digits."""
    codes = [f"{prefix}{random.randrange(1000):03d}" for _ in range(count)]
    for code in codes:
        register(code, discount)
    return codes
