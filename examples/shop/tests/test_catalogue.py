from decimal import Decimal

import pytest

from shop.catalogue import Product, UnknownProduct, shelf_label


def test_products_keep_their_order(catalogue):
    assert [product.sku for product in catalogue] == ["GT-100", "GT-200", "SE-001", "FU-900"]


def test_get(catalogue):
    assert catalogue.get("SE-001").name == "Basil seeds"


def test_get_unknown(catalogue):
    with pytest.raises(UnknownProduct):
        catalogue.get("XX-000")


def test_add_twice(catalogue):
    with pytest.raises(ValueError, match="already"):
        catalogue.add(catalogue.get("GT-100"))


def test_reprice_leaves_the_rest(catalogue):
    changed = catalogue.reprice("GT-100", Decimal("13.00"))
    assert changed.net_price == Decimal("13.00")
    assert catalogue.get("GT-100") == changed
    assert changed.tags == {"zinc"}


def test_retire(catalogue):
    catalogue.retire("GT-200")
    assert "GT-200" not in catalogue
    assert len(catalogue) == 3


def test_categories(catalogue):
    assert catalogue.categories() == ["furniture", "seeds", "tools"]


def test_in_category(catalogue):
    assert [product.name for product in catalogue.in_category("tools")] == ["Watering can", "Spade"]


@pytest.mark.parametrize("sku", ["", "gt-100", "GT100", "GT-1", "GT-1234567", "GT-100\n", "ÄÖ-100", "GT-100;DROP"])
def test_bad_skus(sku):
    with pytest.raises(ValueError, match="not a SKU"):
        Product(sku, "Thing", Decimal("1.00"))


def test_negative_price():
    with pytest.raises(ValueError, match="negative"):
        Product("GT-100", "Thing", Decimal("-1.00"))


def test_label_without_tags():
    assert shelf_label(Product("GT-300", "Rake", Decimal("9.00"))) == "Rake"


def test_label_lists_tags():
    rake = Product("GT-300", "Rake", Decimal("9.00"), tags=frozenset({"ash", "steel"}))
    assert shelf_label(rake) == "Rake (ash, steel)"
