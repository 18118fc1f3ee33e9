"""Full-text search over the catalogue, forgiving one typing error."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

from shop.catalogue import Product

WORD = re.compile(r"[a-z0-9]+")


def words(text: str) -> list[str]:
    """Lower-case words without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold().replace("ß", "ss"))
    return WORD.findall("".join(c for c in plain if not unicodedata.combining(c)))


def within_one_error(wanted: str, found: str) -> bool:
    """Whether one letter changed, missing, added or swapped with its neighbour separates the two."""
    if wanted == found:
        return True
    if abs(len(wanted) - len(found)) > 1:
        return False
    start = 0
    while start < min(len(wanted), len(found)) and wanted[start] == found[start]:
        start += 1
    left, right = wanted[start:], found[start:]
    if len(left) == len(right):
        swapped = len(left) > 1 and left[0] == right[1] and left[1] == right[0] and left[2:] == right[2:]
        return left[1:] == right[1:] or swapped
    return left[1:] == right or left == right[1:]


class Index:
    def __init__(self, products: Iterable[Product] = ()) -> None:
        self._products: dict[str, Product] = {}
        self._skus: dict[str, dict[str, int]] = defaultdict(dict)
        for product in products:
            self.add(product)

    def add(self, product: Product) -> None:
        self._products[product.sku] = product
        for word in words(product.name):
            self._skus[word][product.sku] = 3
        for word in words(f"{product.category} {' '.join(product.tags)}"):
            self._skus[word].setdefault(product.sku, 1)

    def find(self, query: str, limit: int = 10) -> list[Product]:
        """Products that match every word of the query, best first, then by name."""
        scores: list[dict[str, int]] = [self._matches(word) for word in words(query)]
        if not scores:
            return []
        common = set(scores[0]).intersection(*scores[1:])
        ranked = sorted(common, key=lambda sku: (-sum(s[sku] for s in scores), self._products[sku].name, sku))
        return [self._products[sku] for sku in ranked[:limit]]

    def suggest(self, start: str, limit: int = 5) -> list[str]:
        """Words that begin like this, the most used first."""
        begun = [(word, len(skus)) for word, skus in self._skus.items() if word.startswith(start.casefold())]
        return [word for word, _ in sorted(begun, key=lambda pair: (-pair[1], pair[0]))[:limit]]

    def _matches(self, word: str) -> dict[str, int]:
        if word in self._skus:
            return self._skus[word]
        close: dict[str, int] = {}
        for known, skus in self._skus.items():
            if len(word) > 3 and within_one_error(word, known):
                close.update(dict.fromkeys(skus, 1))
        return close
