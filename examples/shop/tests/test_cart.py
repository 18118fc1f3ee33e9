from decimal import Decimal

import pytest

from shop.cart import Cart
from shop.discounts import Percentage, Voucher


@pytest.fixture
def cart(catalogue):
    return Cart(catalogue)


class TestQuantities:
    def test_starts_empty(self, cart):
        assert len(cart) == 0
        assert cart.total() == 0

    def test_adding_twice_adds_up(self, cart):
        cart.add("SE-001", 2)
        cart.add("SE-001")
        assert cart.quantity("SE-001") == 3

    def test_setting_to_nothing_removes(self, cart):
        cart.add("SE-001")
        cart.set("SE-001", 0)
        assert list(cart.lines()) == []

    def test_remove(self, cart):
        cart.add("SE-001")
        cart.remove("SE-001")
        assert len(cart) == 0

    def test_remove_what_is_not_there(self, cart):
        with pytest.raises(KeyError, match="not in the cart"):
            cart.remove("SE-001")

    @pytest.mark.parametrize("quantity", [0, -1])
    def test_add_nothing(self, cart, quantity):
        with pytest.raises(ValueError, match="at least one"):
            cart.add("SE-001", quantity)

    @pytest.mark.parametrize("quantity", [-1, 100])
    def test_set_out_of_range(self, cart, quantity):
        with pytest.raises(ValueError, match="0 to 99"):
            cart.set("SE-001", quantity)

    def test_unknown_product(self, cart):
        with pytest.raises(KeyError):
            cart.add("XX-999")


def test_subtotal(cart):
    cart.add("GT-100", 2)
    cart.add("SE-001", 3)
    assert cart.subtotal() == Decimal("30.85")


def test_tax_by_rate(cart):
    cart.add("GT-100", 2)
    cart.add("SE-001", 2)
    assert cart.tax() == Decimal("4.75") + Decimal("0.27")


def test_total_with_percentage(cart):
    cart.add("FU-900")
    cart.apply(Percentage(10))
    assert cart.net_total() == Decimal("224.10")
    assert cart.total() == Decimal("266.68")


def test_total_with_voucher(cart):
    cart.add("GT-200")
    cart.apply(Voucher(Decimal("4.90")))
    assert cart.net_total() == Decimal("30.00")


def test_weight(cart):
    cart.add("GT-200", 2)
    cart.add("SE-001", 10)
    assert cart.weight_grams() == 4320


def test_price_changes_reach_the_cart(cart, catalogue):
    cart.add("GT-100")
    catalogue.reprice("GT-100", Decimal("10.00"))
    assert cart.subtotal() == Decimal("10.00")
