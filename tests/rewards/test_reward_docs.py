"""docs/rewards.md says what the code derives."""

import re
from pathlib import Path

from whet.rewards import PROFILES, specialists

DOCS = Path(__file__).parents[2] / "docs" / "rewards.md"


def block(name: str) -> str:
    found = re.search(rf"<!-- {name} -->\n(.*?)\n<!-- /{name} -->", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert found, f"docs/rewards.md has no block {name}"
    return found[1]


def ranges_table() -> str:
    rows = ["| profile | part | bounds | weight | weighted |", "|---|---|---|---|---|"]
    for profile in PROFILES.values():
        for term in profile.terms:
            low, high = term.bounds.low, term.bounds.high
            weighted = term.bounds.weighted(term.weight)
            rows.append(
                f"| {profile.name} | {term.name} | {low:g} to {high:g} | {term.weight:g} "
                f"| {weighted.low:g} to {weighted.high:g} |"
            )
        low, high = profile.true_range()
        rows.append(f"| **{profile.name}** | **all** | | | **{low:g} to {high:g}** |")
    return "\n".join(rows)


def own_table() -> str:
    rows = ["| term | what is counted | points for each | bounds |", "|---|---|---|---|"]
    rows += [
        f"| {scale.name} | {scale.unit} | {scale.points_each:g} | {scale.bounds.low:g} to {scale.bounds.high:g} |"
        for scale in specialists.SCALES
    ]
    return "\n".join(rows)


def test_the_table_of_ranges_is_what_the_code_derives() -> None:
    assert block("ranges") == ranges_table()


def test_the_table_of_own_terms_is_what_the_code_has() -> None:
    assert block("own") == own_table()


def test_every_part_is_explained() -> None:
    text = DOCS.read_text(encoding="utf-8").partition("## True ranges")[0]
    for profile in PROFILES.values():
        for name in profile.weights:
            assert f"| {name} |" in text
