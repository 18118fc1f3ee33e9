"""What the shop sells."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal

SKU = re.compile(r"[A-Z]{2}-\d{3,6}")


class UnknownProduct(KeyError):
    """There is no product with that SKU."""


@dataclass(frozen=True)
class Product:
    sku: str
    name: str
    net_price: Decimal
    category: str = "misc"
    weight_grams: int = 0
    vat_rate: str = "standard"
    tags: frozenset[str] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        if not SKU.fullmatch(self.sku):
            raise ValueError(f"{self.sku!r} is not a SKU: two capitals, a dash, three to six digits")
        if self.net_price < 0:
            raise ValueError(f"{self.sku} has a negative price: {self.net_price}")


class Catalogue:
    """Products by SKU, in the order in which they were added."""

    def __init__(self) -> None:
        self._products: dict[str, Product] = {}

    def add(self, product: Product) -> None:
        if product.sku in self._products:
            raise ValueError(f"{product.sku} is in the catalogue already")
        self._products[product.sku] = product

    def get(self, sku: str) -> Product:
        try:
            return self._products[sku]
        except KeyError:
            raise UnknownProduct(sku) from None

    def reprice(self, sku: str, net_price: Decimal) -> Product:
        product = replace(self.get(sku), net_price=net_price)
        self._products[sku] = product
        return product

    def retire(self, sku: str) -> Product:
        product = self.get(sku)
        del self._products[sku]
        return product

    def in_category(self, category: str) -> list[Product]:
        return [product for product in self if product.category == category]

    def categories(self) -> list[str]:
        return sorted({product.category for product in self})

    def __contains__(self, sku: str) -> bool:
        return sku in self._products

    def __iter__(self) -> Iterator[Product]:
        return iter(self._products.values())

    def __len__(self) -> int:
        return len(self._products)


def shelf_label(product: Product) -> str:
    """The text of the label under a product: its name and what it is tagged with."""
    if not product.tags:
        return product.name
    return f"{product.name} ({', '.join(product.tags)})"
