from datetime import date
from decimal import Decimal

import pytest

from shop.cart import Cart
from shop.catalogue import Product
from shop.inventory import Stock
from shop.invoices import NumberRange, render
from shop.orders import Desk

DAY = date(2024, 5, 6)


@pytest.fixture
def order(catalogue):
    cart = Cart(catalogue)
    cart.add("GT-100", 2)
    desk = Desk(Stock({"GT-100": 2}))
    placed = desk.place(cart)
    desk.pay(placed, placed.total)
    return placed


def test_numbers_have_no_gaps():
    numbers = NumberRange()
    assert [numbers.next(DAY) for _ in range(3)] == ["2024-0001", "2024-0002", "2024-0003"]


def test_numbers_start_again_each_year():
    numbers = NumberRange()
    numbers.next(DAY)
    assert numbers.next(date(2025, 1, 1)) == "2025-0001"


def test_rows(order):
    text = render(order, "2024-0001", DAY).splitlines()
    assert text[:2] == ["Invoice 2024-0001", "06.05.2024"]
    assert text[3].startswith("2 × Watering can")
    assert text[3].endswith("25,00 €")


def test_total(order):
    assert render(order, "2024-0001", DAY).splitlines()[-1].split() == ["Total", "34,15", "€"]


def test_rows_are_equally_wide(order):
    assert {len(row) for row in render(order, "1", DAY).splitlines()[2:]} == {48}


def test_unpaid_orders_have_no_invoice(catalogue):
    cart = Cart(catalogue)
    cart.add("SE-001")
    with pytest.raises(ValueError, match="not paid"):
        render(Desk(Stock({"SE-001": 1})).place(cart), "1", DAY)


def test_long_names_are_cut(catalogue):
    catalogue.add(Product("GT-777", "Very long handled telescopic pruning saw", Decimal("60.00")))
    cart = Cart(catalogue)
    cart.add("GT-777")
    desk = Desk(Stock({"GT-777": 1}))
    placed = desk.place(cart)
    desk.pay(placed, placed.total)
    assert "Very long handled telescopic …" in render(placed, "1", DAY)
