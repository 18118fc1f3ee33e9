from decimal import Decimal

import pytest

from shop.prices import BadAmount, euros, gross, share, show, vat


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("12.50", "12.50"),
        ("12,50", "12.50"),
        ("€ 12,50", "12.50"),
        ("1.234,50", "1234.50"),
        ("  7 ", "7.00"),
        ("-3,10", "-3.10"),
        ("1\u00a0000,00 €", "1000.00"),
    ],
)
def test_euros_reads(text, amount):
    assert euros(text) == Decimal(amount)


@pytest.mark.parametrize("text", ["", "twelve", "1,2,3", "12 50", "NaN", "Infinity"])
def test_euros_refuses(text):
    with pytest.raises(BadAmount):
        euros(text)


def test_euros_keeps_whole_numbers():
    assert euros(5) == Decimal("5.00")


@pytest.mark.parametrize(
    ("net", "tax"),
    [("100.00", "19.00"), ("0.00", "0.00"), ("9.99", "1.90"), ("1.50", "0.29"), ("0.01", "0.00")],
)
def test_vat_is_rounded_commercially(net, tax):
    assert vat(Decimal(net)) == Decimal(tax)


def test_reduced_rate():
    assert vat(Decimal("10.00"), "reduced") == Decimal("0.70")


def test_no_rate():
    assert gross(Decimal("10.00"), "none") == Decimal("10.00")


def test_unknown_rate_names_the_known_ones():
    with pytest.raises(KeyError, match="standard, reduced, none"):
        vat(Decimal("1.00"), "luxury")


def test_gross_adds_the_tax():
    assert gross(Decimal("100.00")) == Decimal("119.00")


@pytest.mark.parametrize(("amount", "parts"), [("10.00", 3), ("0.05", 4), ("99.99", 7), ("1.00", 1)])
def test_shares_add_up(amount, parts):
    shares = share(Decimal(amount), parts)
    assert sum(shares) == Decimal(amount)
    assert max(shares) - min(shares) <= Decimal("0.01")


def test_cannot_share_among_nobody():
    with pytest.raises(ValueError, match="0 parts"):
        share(Decimal("1.00"), 0)


@pytest.mark.parametrize(
    ("amount", "shown"),
    [("0.5", "0,50 €"), ("1234.5", "1.234,50 €"), ("1234567", "1.234.567,00 €"), ("-12", "-12,00 €")],
)
def test_show(amount, shown):
    assert show(Decimal(amount)) == shown
