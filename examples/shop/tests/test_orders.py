from decimal import Decimal

import pytest

from shop.cart import Cart
from shop.inventory import OutOfStock, Stock
from shop.orders import Desk, NotAllowed, Status


@pytest.fixture
def stock():
    return Stock({"GT-100": 5, "GT-200": 1, "SE-001": 50})


@pytest.fixture
def desk(stock):
    return Desk(stock)


@pytest.fixture
def cart(catalogue):
    filled = Cart(catalogue)
    filled.add("GT-100", 2)
    filled.add("SE-001", 2)
    return filled


def test_placing_reserves(desk, cart, stock):
    desk.place(cart)
    assert stock.free("GT-100") == 3


def test_total_has_goods_tax_and_shipping(desk, cart):
    order = desk.place(cart)
    assert order.total == Decimal("28.90") + Decimal("5.02") + Decimal("4.40")


def test_orders_are_numbered(desk, cart):
    assert [desk.place(cart).number for _ in range(2)] == [1, 2]


def test_empty_cart(desk, catalogue):
    with pytest.raises(ValueError, match="empty"):
        desk.place(Cart(catalogue))


def test_nothing_stays_reserved_when_one_line_is_out_of_stock(desk, cart, stock):
    cart.add("GT-200", 2)
    with pytest.raises(OutOfStock):
        desk.place(cart)
    assert stock.free("GT-100") == 5
    assert stock.free("SE-001") == 50


def test_paying(desk, cart):
    order = desk.place(cart)
    desk.pay(order, order.total)
    assert order.status is Status.PAID


@pytest.mark.parametrize("difference", ["0.01", "-0.01"])
def test_paying_the_wrong_amount(desk, cart, difference):
    order = desk.place(cart)
    with pytest.raises(ValueError, match="costs"):
        desk.pay(order, order.total + Decimal(difference))


def test_sending_takes_from_the_shelf(desk, cart, stock):
    order = desk.place(cart)
    desk.pay(order, order.total)
    desk.send(order)
    assert stock.level("GT-100") == 3
    assert order.log == ["placed → paid", "paid → sent"]


def test_unpaid_orders_are_not_sent(desk, cart, stock):
    with pytest.raises(NotAllowed, match="is placed; it cannot become sent"):
        desk.send(desk.place(cart))
    assert stock.level("GT-100") == 5


def test_cancelling_frees_the_stock(desk, cart, stock):
    order = desk.place(cart)
    desk.cancel(order)
    assert stock.free("GT-100") == 5


def test_cancelling_twice(desk, cart):
    order = desk.place(cart)
    desk.cancel(order)
    with pytest.raises(NotAllowed):
        desk.cancel(order)


def test_christmas_rush(catalogue):
    stock = Stock({"SE-001": 100_000})
    desk = Desk(stock)
    for _ in range(20_000):
        cart = Cart(catalogue)
        cart.add("SE-001", 3)
        order = desk.place(cart)
        desk.pay(order, order.total)
        desk.send(order)
    assert stock.level("SE-001") == 40_000
