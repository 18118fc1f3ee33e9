"""The shop's short history: how each change came about, told by undoing it.

`shop/` holds the newest state. Every step names the files it added and the texts it changed,
so that the state before it is found by taking those away again, newest step first.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """In `path`, `before` became `after`."""

    path: str
    before: str
    after: str


@dataclass(frozen=True)
class Step:
    message: str
    date: str
    added: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()


BULK_CODES = '''

def bulk_codes(prefix: str, count: int, discount: Discount) -> list[str]:
    """Register `count` codes for a mailing: the prefix and three digits."""
    codes = [f"{prefix}{random.randrange(1000):03d}" for _ in range(count)]
    for code in codes:
        register(code, discount)
    return codes
'''

BULK_CODE_CHECKS = """

def test_bulk_codes_are_valid():
    for code in bulk_codes("MAIL", 5, TEN):
        assert redeem(code) is TEN


def test_bulk_codes_are_all_different():
    codes = bulk_codes("LETTER", 25, TEN)
    assert len(set(codes)) == 25
"""

REFUND = '''    def refund(self, order: Order, amount: Decimal | None = None) -> Decimal:
        """Pay back all, or a part, of an order; what was not sent yet becomes free again."""
        left = order.total - order.refunded
        wanted = left if amount is None else amount
        if wanted <= 0 or wanted > left:
            raise ValueError(f"between 0.01 and {left} can be refunded, not {wanted}")
        if wanted < left:
            order.refunded += wanted
            order.log.append(f"refunded {wanted}")
            return wanted
        if order.status is Status.PAID:
            for line in order.lines:
                self._stock.release(line.product.sku, line.quantity)
        order.become(Status.REFUNDED)
        order.refunded = order.total
        return wanted

'''

STEPS = (
    Step(
        "Sell products: catalogue, cart, stock, orders, invoices",
        "2024-03-04T09:12:00+01:00",
        added=(
            ".gitignore",
            "pyproject.toml",
            "src/shop/__init__.py",
            "src/shop/cart.py",
            "src/shop/catalogue.py",
            "src/shop/discounts.py",
            "src/shop/inventory.py",
            "src/shop/invoices.py",
            "src/shop/orders.py",
            "src/shop/prices.py",
            "src/shop/shipping.py",
            "tests/conftest.py",
            "tests/test_carriers.py",
            "tests/test_cart.py",
            "tests/test_catalogue.py",
            "tests/test_discounts.py",
            "tests/test_inventory.py",
            "tests/test_invoices.py",
            "tests/test_orders.py",
            "tests/test_prices.py",
            "tests/test_shipping.py",
        ),
    ),
    Step(
        "Import suppliers' price lists",
        "2024-03-11T16:40:00+01:00",
        added=("src/shop/price_lists.py", "tests/test_price_lists.py"),
        changes=(Change("pyproject.toml", 'version = "0.5.0"', 'version = "0.6.0"'),),
    ),
    Step(
        "Search the catalogue, forgiving one typing error",
        "2024-03-19T11:05:00+01:00",
        added=("src/shop/search.py", "tests/test_search.py"),
        changes=(Change("pyproject.toml", 'version = "0.6.0"', 'version = "0.7.0"'),),
    ),
    Step(
        "Codes in bulk for mailings",
        "2024-04-02T10:21:00+02:00",
        changes=(
            Change("src/shop/discounts.py", "", "import random\n"),
            Change("src/shop/discounts.py", "", BULK_CODES),
            Change("tests/test_discounts.py", "Voucher, known_codes", "Voucher, bulk_codes, known_codes"),
            Change("tests/test_discounts.py", "", BULK_CODE_CHECKS),
        ),
    ),
    Step(
        "Refund orders, whole or in part",
        "2024-04-15T14:58:00+02:00",
        changes=(Change("src/shop/orders.py", "", REFUND),),
    ),
    Step(
        "Keep the limit for free shipping in one place",
        "2024-05-06T17:31:00+02:00",
        changes=(
            Change("src/shop/shipping.py", "", 'FREE_FROM = Decimal("50.00")\n'),
            Change("src/shop/shipping.py", 'net_total >= Decimal("50.00")', "net_total > FREE_FROM"),
        ),
    ),
)
