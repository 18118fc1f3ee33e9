import threading
import time

import pytest

from shop.inventory import DeliveryDesk, OutOfStock, Stock


def wait_until(condition, timeout_seconds=5.0):
    end = time.monotonic() + timeout_seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("condition was not met in time")
        time.sleep(0.01)


@pytest.fixture
def stock():
    return Stock({"GT-100": 10, "SE-001": 2})


def test_levels(stock):
    assert (stock.level("GT-100"), stock.level("XX-000")) == (10, 0)


def test_reserving_keeps_the_level(stock):
    stock.reserve("GT-100", 4)
    assert (stock.level("GT-100"), stock.free("GT-100")) == (10, 6)


def test_reserving_too_much(stock):
    stock.reserve("GT-100", 8)
    with pytest.raises(OutOfStock, match="3 × GT-100 wanted, 2 free"):
        stock.reserve("GT-100", 3)


def test_release(stock):
    stock.reserve("GT-100", 4)
    stock.release("GT-100", 4)
    assert stock.free("GT-100") == 10


def test_release_what_is_not_reserved(stock):
    with pytest.raises(ValueError, match="only 0"):
        stock.release("GT-100", 1)


def test_take(stock):
    stock.reserve("GT-100", 4)
    stock.take("GT-100", 4)
    assert (stock.level("GT-100"), stock.free("GT-100")) == (6, 6)


def test_receive(stock):
    stock.receive("SE-001", 5)
    assert stock.level("SE-001") == 7


def test_low(stock):
    stock.reserve("GT-100", 8)
    assert stock.low() == ["GT-100", "SE-001"]


def test_threads_never_oversell():
    stock = Stock({"FU-900": 4000})
    sold = []

    def sell():
        for _ in range(12_000):
            try:
                stock.reserve("FU-900", 1)
                stock.take("FU-900", 1)
            except OutOfStock:
                continue
            sold.append(1)

    buyers = [threading.Thread(target=sell) for _ in range(8)]
    for buyer in buyers:
        buyer.start()
    for buyer in buyers:
        buyer.join()
    assert len(sold) == 4000
    assert stock.level("FU-900") == 0


def test_deliveries_are_booked_when_the_desk_closes(stock):
    with DeliveryDesk(stock, beat_seconds=30) as desk:
        desk.announce("SE-001", 3)
    assert stock.level("SE-001") == 5


def test_a_day_of_deliveries(stock):
    with DeliveryDesk(stock, beat_seconds=0.1) as desk:
        for delivery in range(8):
            desk.announce("SE-001", 1)
            wait_until(lambda expected=3 + delivery: stock.level("SE-001") == expected)
    assert stock.level("SE-001") == 10


def test_delivery_is_on_the_shelf_at_once(stock):
    with DeliveryDesk(stock) as desk:
        desk.announce("GT-100", 5)
        time.sleep(0.053)
        assert stock.level("GT-100") == 15
