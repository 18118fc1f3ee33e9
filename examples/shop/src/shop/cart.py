"""A customer's cart."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from shop.catalogue import Catalogue, Product
from shop.discounts import Discount
from shop.prices import CENT, vat

MOST_OF_ONE = 99


@dataclass(frozen=True)
class Line:
    product: Product
    quantity: int

    @property
    def net(self) -> Decimal:
        return self.product.net_price * self.quantity


class Cart:
    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._quantities: dict[str, int] = {}
        self._discount: Discount | None = None

    def add(self, sku: str, quantity: int = 1) -> None:
        self.set(sku, self.quantity(sku) + self._positive(quantity))

    def set(self, sku: str, quantity: int) -> None:
        product = self._catalogue.get(sku)
        if not 0 <= quantity <= MOST_OF_ONE:
            raise ValueError(f"quantity must be 0 to {MOST_OF_ONE}, not {quantity}")
        if quantity == 0:
            self._quantities.pop(product.sku, None)
        else:
            self._quantities[product.sku] = quantity

    def remove(self, sku: str) -> None:
        if sku not in self._quantities:
            raise KeyError(f"{sku} is not in the cart")
        del self._quantities[sku]

    def apply(self, discount: Discount) -> None:
        self._discount = discount

    def quantity(self, sku: str) -> int:
        return self._quantities.get(sku, 0)

    def lines(self) -> Iterator[Line]:
        for sku, quantity in self._quantities.items():
            yield Line(self._catalogue.get(sku), quantity)

    def subtotal(self) -> Decimal:
        return sum((line.net for line in self.lines()), Decimal("0.00"))

    def reduction(self) -> Decimal:
        return self._discount.reduction(self.subtotal()) if self._discount else Decimal("0.00")

    def net_total(self) -> Decimal:
        return self.subtotal() - self.reduction()

    def tax(self) -> Decimal:
        """VAT by rate, after the discount has been spread over all lines."""
        subtotal = self.subtotal()
        if not subtotal:
            return Decimal("0.00")
        factor = self.net_total() / subtotal
        rates: dict[str, Decimal] = {}
        for line in self.lines():
            rate = line.product.vat_rate
            rates[rate] = rates.get(rate, Decimal(0)) + line.net * factor
        return sum((vat(net.quantize(CENT), rate) for rate, net in rates.items()), Decimal("0.00"))

    def total(self) -> Decimal:
        return self.net_total() + self.tax()

    def weight_grams(self) -> int:
        return sum(line.product.weight_grams * line.quantity for line in self.lines())

    def __len__(self) -> int:
        return sum(self._quantities.values())

    @staticmethod
    def _positive(quantity: int) -> int:
        if quantity < 1:
            raise ValueError(f"add at least one, not {quantity}")
        return quantity
