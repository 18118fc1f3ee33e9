"""The ablation of `whet api` says of a difference whether it is more than chance, in pairs of the same seed."""

import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from benchmarks.api_ablation import cell, seeds, table
from benchmarks.api_ablation_run import VARIANTS
from benchmarks.api_misnamed import KINDS, document, serving

from whet.skills.api.contract.reading import read_contract
from whet.skills.api.explorer import EVERYTHING, Learned


@pytest.mark.parametrize(
    ("column", "base", "told"),
    [
        ((5, 7, 9), (5, 7, 9), "7.0"),
        ((4,), (5,), "4.0"),  # one pair says nothing of chance
        ((10, 12, 5), (11, 9, 8), "9.0 (-0.3 ±1.8)"),
        ((4, 5, 8), (5, 7, 8), "5.7 (-1.0 ±0.6*)"),
        ((4, 6, 7), (5, 7, 9), "5.7 (-1.3 ±0.3**)"),
        ((4, 6, 8), (5, 7, 9), "6.0 (-1.0 ±0.0**)"),
    ],
)
def test_a_difference_has_a_star_for_each_of_its_standard_errors(
    column: tuple[int, ...], base: tuple[int, ...], told: str
) -> None:
    assert cell(column, base) == told


def test_every_variant_is_compared_with_the_one_that_learns() -> None:
    lines = table({"everything learns": [(5, 9, 2, 1), (7, 9, 4, 1)], "nothing learns": [(1, 9, 2, 0), (2, 9, 3, 0)]})
    assert lines[-1].split() == [
        "nothing", "learns", "1.5", "(-4.5", "±0.5**)", "9.0", "2.5", "(-0.5", "±0.5*)", "0.0", "(-1.0", "±0.0**)",
    ]  # fmt: skip


def test_each_variant_switches_off_something_of_its_own() -> None:
    assert len(set(VARIANTS.values())) == len(VARIANTS)
    assert VARIANTS["everything learns"] == EVERYTHING == Learned()
    off = [sum(not getattr(one, part) for part in Learned.__slots__) for one in VARIANTS.values()]
    assert off == [0, *[1] * (len(VARIANTS) - 2), len(Learned.__slots__)]


def test_seeds_are_a_number_or_a_range() -> None:
    assert seeds("3") == [1, 2, 3]
    assert seeds("4-6") == [4, 5, 6]


def test_the_misnamed_service_takes_only_ids_of_the_right_kind() -> None:
    def made(url: str, kind: str, **fields: str) -> str | None:
        asked = Request(f"{url}/{kind}", json.dumps({"title": "x", **fields}).encode(), method="POST")  # noqa: S310
        try:
            with urlopen(asked, timeout=5) as answer:  # noqa: S310 - on loopback
                return str(json.load(answer)["id"])
        except HTTPError as refused:
            refused.close()
            return None

    with serving() as url:
        person, room = made(url, "people"), made(url, "rooms")
        assert person
        assert room
        team = made(url, "teams", lead=person)
        assert team
        assert made(url, "teams", lead=room) is None
        assert made(url, "desks", ref=team, place=room)
        assert made(url, "desks", ref=room, place=team) is None
        assert len(read_contract(document()).operations) == 4 * len(KINDS)
