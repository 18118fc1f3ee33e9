from decimal import Decimal

import pytest

from shop.catalogue import Catalogue, Product


@pytest.fixture
def catalogue():
    """Four products: a heavy one, a light one, food at the reduced rate, and a dear one."""
    shelf = Catalogue()
    shelf.add(Product("GT-100", "Watering can", Decimal("12.50"), "tools", 900, tags=frozenset({"zinc"})))
    shelf.add(Product("GT-200", "Spade", Decimal("34.90"), "tools", 2100))
    shelf.add(Product("SE-001", "Basil seeds", Decimal("1.95"), "seeds", 12, "reduced"))
    shelf.add(Product("FU-900", "Teak bench", Decimal("249.00"), "furniture", 28000))
    return shelf
