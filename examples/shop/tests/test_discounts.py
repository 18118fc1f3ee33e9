from datetime import date
from decimal import Decimal

import pytest

from shop.discounts import Campaign, Percentage, Voucher, bulk_codes, known_codes, redeem, register

TEN = Percentage(10)


def test_shop_opens_without_codes():
    assert known_codes() == []


@pytest.mark.parametrize(
    ("percent", "reduction"), [(10, "10.00"), (33, "33.00"), (100, "100.00"), (1, "1.00")], ids=lambda v: f"{v}%"
)
def test_percentage(percent, reduction):
    assert Percentage(percent).reduction(Decimal("100.00")) == Decimal(reduction)


@pytest.mark.parametrize("percent", [0, -5, 101])
def test_bad_percentage(percent):
    with pytest.raises(ValueError, match="1 to 100"):
        Percentage(percent)


def test_voucher():
    assert Voucher(Decimal("5.00")).reduction(Decimal("20.00")) == Decimal("5.00")


def test_voucher_is_never_more_than_the_cart():
    assert Voucher(Decimal("50.00")).reduction(Decimal("20.00")) == Decimal("20.00")


def test_voucher_below_its_minimum():
    assert Voucher(Decimal("5.00"), Decimal("30.00")).reduction(Decimal("29.99")) == 0


@pytest.mark.parametrize(("day", "runs"), [(1, False), (2, True), (9, True), (10, False)])
def test_campaign_includes_both_ends(day, runs):
    campaign = Campaign(TEN, date(2024, 5, 2), date(2024, 5, 9))
    assert (campaign.on(date(2024, 5, day)) is TEN) is runs


def test_codes_ignore_case_and_spaces():
    register("Spring10", TEN)
    assert redeem(" spring10 ") is TEN


def test_later_registration_wins():
    register("SPRING10", Percentage(20))
    assert redeem("SPRING10") == Percentage(20)


@pytest.mark.parametrize("code", ["", "two words", "50%", "<b>", "naïve", "a/b::c[d]"])
def test_bad_codes(code):
    with pytest.raises(ValueError, match="letters and digits"):
        register(code, TEN)


def test_unknown_code():
    with pytest.raises(LookupError, match="NOPE"):
        redeem("NOPE")


def test_bulk_codes_are_valid():
    for code in bulk_codes("MAIL", 5, TEN):
        assert redeem(code) is TEN


def test_bulk_codes_are_all_different():
    codes = bulk_codes("LETTER", 25, TEN)
    assert len(set(codes)) == 25
