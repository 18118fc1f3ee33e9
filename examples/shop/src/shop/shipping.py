"""What it costs to send a parcel, and how long it takes."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

FREE_FROM = Decimal("50.00")
HEAVIEST_GRAMS = 31_500


@dataclass(frozen=True)
class Zone:
    name: str
    base: Decimal
    per_kilo: Decimal
    days: int


ZONES = {
    "DE": Zone("Germany", Decimal("3.90"), Decimal("0.50"), 2),
    "AT": Zone("Austria", Decimal("6.90"), Decimal("0.90"), 3),
    "FR": Zone("France", Decimal("8.90"), Decimal("1.20"), 4),
}


class CannotShip(ValueError):
    """Too heavy, or nowhere we deliver to."""


def zone_of(country: str) -> Zone:
    if country not in ZONES:
        raise CannotShip(f"we do not deliver to {country!r}, only to {', '.join(ZONES)}")
    return ZONES[country]


def is_free(net_total: Decimal, country: str) -> bool:
    """Domestic parcels are free from 50 euros."""
    return country == "DE" and net_total > FREE_FROM


def cost(net_total: Decimal, weight_grams: int, country: str = "DE") -> Decimal:
    zone = zone_of(country)
    if weight_grams > HEAVIEST_GRAMS:
        raise CannotShip(f"{weight_grams} g is more than {HEAVIEST_GRAMS} g; send it by freight")
    if is_free(net_total, country):
        return Decimal("0.00")
    kilos = -(-weight_grams // 1000)
    return zone.base + zone.per_kilo * max(kilos - 1, 0)


def arrival(sent: date, country: str = "DE") -> date:
    """The day of delivery; parcels do not travel on Sundays."""
    day = sent
    left = zone_of(country).days
    while left:
        day += timedelta(days=1)
        if day.weekday() != 6:
            left -= 1
    return day


def book_pickup(carrier: Callable[[], str], attempts: int = 4, pause_seconds: float = 0.1) -> str:
    """Ask the carrier for a pickup; a carrier that is away is asked again, each time after twice the pause."""
    for attempt in range(attempts):
        try:
            return carrier()
        except ConnectionError:
            if attempt == attempts - 1:
                raise
            time.sleep(pause_seconds * 2**attempt)
    raise ValueError(f"attempts must be at least 1, not {attempts}")
