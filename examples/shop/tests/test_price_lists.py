from decimal import Decimal

import pytest

from shop.price_lists import BadPriceList, load, read

HEAD = "sku;name;price;category;weight;tags\n"


def test_new_products_are_added(catalogue):
    report = read(HEAD + "GT-300;Rake;19,90;tools;800;ash, steel\n", catalogue)
    assert report.added == 1
    assert catalogue.get("GT-300").tags == {"ash", "steel"}


def test_prices_are_updated(catalogue):
    report = read(HEAD + "GT-100;Watering can;13,00\n", catalogue)
    assert (report.repriced, catalogue.get("GT-100").net_price) == (1, Decimal("13.00"))


def test_same_price(catalogue):
    assert read(HEAD + "gt-100;Watering can;12,50\n", catalogue).unchanged == 1


def test_blank_rows_are_skipped(catalogue):
    report = read(HEAD + "\n;;\nGT-300;Rake;19,90\n", catalogue)
    assert (report.added, report.problems) == (1, [])


def test_short_rows_get_defaults(catalogue):
    read(HEAD + "GT-300;Rake;19,90\n", catalogue)
    assert (catalogue.get("GT-300").category, catalogue.get("GT-300").weight_grams) == ("misc", 0)


def test_empty_list(catalogue):
    with pytest.raises(BadPriceList, match="empty"):
        read("", catalogue)


@pytest.mark.parametrize("head", ["sku;name", "name;price", "SKU;Name;Price"])
def test_missing_columns(catalogue, head):
    with pytest.raises(BadPriceList, match="missing"):
        read(head + "\n", catalogue)


def test_file_with_byte_order_mark(tmp_path, catalogue):
    path = tmp_path / "supplier.csv"
    path.write_text(HEAD + "GT-300;Gießkanne;19,90\n", encoding="utf-8-sig")
    assert load(path, catalogue).added == 1
    assert catalogue.get("GT-300").name == "Gießkanne"


def test_yearly_list_of_the_wholesaler(tmp_path, catalogue):
    rows = (f"WH-{n:06d};Article {n};{n % 90},{n % 100:02d};bulk;{n % 900};a,b" for n in range(60_000))
    path = tmp_path / "wholesaler.csv"
    path.write_text(HEAD + "\n".join(rows), encoding="utf-8")
    report = load(path, catalogue)
    assert (report.added, report.problems) == (60_000, [])
