from decimal import Decimal

import pytest

from shop.catalogue import Product
from shop.search import Index, within_one_error, words


@pytest.fixture
def index(catalogue):
    return Index(catalogue)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Watering can", ["watering", "can"]),
        ("Gießkanne", ["giesskanne"]),
        ("Crème-brûlée", ["creme", "brulee"]),
        ("10 l / 5 kg", ["10", "l", "5", "kg"]),
        ("¿?", []),
    ],
)
def test_words(text, found):
    assert words(text) == found


@pytest.mark.parametrize(
    ("wanted", "found", "close"),
    [
        ("spade", "spade", True),
        ("spdae", "spade", True),
        ("spad", "spade", True),
        ("sspade", "spade", True),
        ("spode", "spade", True),
        ("spo", "spade", False),
        ("edaps", "spade", False),
    ],
)
def test_one_error(wanted, found, close):
    assert within_one_error(wanted, found) is close


def test_by_name(index):
    assert [p.sku for p in index.find("spade")] == ["GT-200"]


def test_names_count_more_than_categories(index):
    index.add(Product("XX-100", "Tools box", Decimal("9.00")))
    assert index.find("tools")[0].sku == "XX-100"


def test_every_word_must_match(index):
    assert index.find("watering bench") == []


def test_typing_error(index):
    assert [p.sku for p in index.find("wateirng")] == ["GT-100"]


def test_empty_query(index):
    assert index.find("  ") == []


def test_limit(index):
    for number in range(20):
        index.add(Product(f"NA-{number:03d}", f"Nail {number:02d}", Decimal("0.10")))
    assert [p.name for p in index.find("nail", limit=3)] == ["Nail 00", "Nail 01", "Nail 02"]


def test_suggestions(index):
    assert index.suggest("s") == ["seeds", "spade"]


def test_large_catalogue_forgives_typing_errors():
    letters = "abcdefghij"
    names = [f"{a}{b}{c}{d}rose" for a in letters for b in letters for c in letters for d in letters]
    index = Index(Product(f"RO-{n:06d}", name, Decimal("4.00")) for n, name in enumerate(names))
    for name in names[::160]:
        assert index.find(f"{name}x")[0].name == name
