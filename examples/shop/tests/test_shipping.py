from datetime import date
from decimal import Decimal

import pytest

from shop.shipping import CannotShip, arrival, cost, is_free


@pytest.mark.parametrize(
    ("country", "grams", "price"),
    [
        ("DE", 0, "3.90"),
        ("DE", 1000, "3.90"),
        ("DE", 1001, "4.40"),
        ("AT", 2500, "8.70"),
        ("FR", 500, "8.90"),
    ],
)
def test_cost(country, grams, price):
    assert cost(Decimal("20.00"), grams, country) == Decimal(price)


def test_dear_carts_travel_free():
    assert cost(Decimal("80.00"), 5000) == 0


def test_fifty_euros_travel_free():
    assert cost(Decimal("50.00"), 900) == 0


def test_just_below_fifty_euros():
    assert not is_free(Decimal("49.99"), "DE")


def test_abroad_is_never_free():
    assert cost(Decimal("500.00"), 500, "AT") == Decimal("6.90")


def test_too_heavy():
    with pytest.raises(CannotShip, match="freight"):
        cost(Decimal("20.00"), 31_501)


@pytest.mark.parametrize("country", ["US", "de", "", "🇩🇪", "D E"])
def test_nowhere_we_deliver(country):
    with pytest.raises(CannotShip, match="only to DE, AT, FR"):
        cost(Decimal("20.00"), 100, country)


@pytest.mark.parametrize(
    ("sent", "country", "arrives"),
    [
        (date(2024, 5, 6), "DE", date(2024, 5, 8)),
        (date(2024, 5, 10), "DE", date(2024, 5, 13)),
        (date(2024, 5, 10), "FR", date(2024, 5, 15)),
    ],
    ids=["monday", "friday", "friday → France"],
)
def test_arrival(sent, country, arrives):
    assert arrival(sent, country) == arrives
