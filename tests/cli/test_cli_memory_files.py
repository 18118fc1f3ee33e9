"""whet memory export and import: the same comes back, once, masked, and never across projects unsaid."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.test_cli_memory import SETTINGS, answered, asked, refused
from tests.memory.episodes import PROJECT, run, turn
from tests.memory.lived import begin, failing, live

from whet.bootstrap.remembering import fleet_memory
from whet.bootstrap.site import open_site
from whet.core.errors import RefusedInput
from whet.core.memories import Memory
from whet.memory.remembering_exchange import from_lines, to_lines

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def made(root: Path, name: str) -> Path:
    place = root / name
    place.mkdir(parents=True)
    (place / "pyproject.toml").write_text(SETTINGS)
    return place


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = made(tmp_path, "shop")
    site = open_site(root)
    with site.store() as store:
        begin(store)
        for number in range(4):
            live(store, f"k{number}", failing(f"tests/test_{number}.py::test_it", "boom \u2028 \x85 'x'"))
        memory = fleet_memory(site, store)
        memory.catch_up()
        store.memories.pin(store.memories.newest(wanted_all(), 1)[0].id, True)
    return root


def wanted_all() -> Any:
    from whet.core.memories import Wanted

    return Wanted(project="shop")


def everything(project: Path) -> list[dict[str, Any]]:
    return list(answered("list", "-C", project, "--limit", "1000"))


def without_position(memories: list[dict[str, Any]]) -> list[dict[str, Any]]:
    about = [{k: v for k, v in each["about"].items() if k != "position"} for each in memories]
    return [{**each, "about": told} for each, told in zip(memories, about, strict=True)]


def test_what_was_exported_comes_back_the_same_and_once(shop: Path, tmp_path: Path) -> None:
    file, again = tmp_path / "memories.jsonl", made(tmp_path / "elsewhere", "shop")
    assert answered("export", file, "-C", shop) == {"file": str(file), "memories": 8}
    assert answered("import", file, "-C", again) == {"file": str(file), "memories": 8, "new": 8}
    assert everything(again) == without_position(everything(shop))
    assert answered("import", file, "-C", again)["new"] == 0
    second = tmp_path / "second.jsonl"
    asked("export", second, "-C", shop)
    assert second.read_bytes() == file.read_bytes()


def test_importing_over_what_is_known_changes_nothing(shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "memories.jsonl"
    asked("export", file, "-C", shop)
    before = everything(shop)
    assert answered("import", file, "-C", shop)["new"] == 0
    assert everything(shop) == before


def test_another_projects_memories_must_be_asked_for(shop: Path, tmp_path: Path) -> None:
    file, bank = tmp_path / "shop.jsonl", made(tmp_path, "bank")
    asked("export", file, "-C", shop)
    told = refused("import", file, "-C", bank)
    assert told == (
        "These are memories of the project 'shop', not of 'bank'; nothing was imported. "
        "To make them this project's own, say so: --from 'shop'"
    )
    assert "project 'shop', not of 'other'" in refused("import", file, "--from", "other", "-C", bank)
    assert answered("import", file, "--from", "shop", "-C", bank)["new"] == 8
    assert {each["project"] for each in everything(bank)} == {"bank"}


def test_a_hidden_secret_is_masked_on_the_way_in(shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "edited.jsonl"
    asked("export", file, "-C", shop)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[1].update(text=f"token={SECRET}", cue=SECRET, subjects=[f"test:{SECRET}"], about={"x": SECRET, SECRET: 1})
    lines[1].update(source=f"new {SECRET}", agent=f"asked {SECRET}")
    file.write_text("\n".join(json.dumps(line) for line in lines))
    assert answered("import", file, "-C", shop)["new"] == 1
    assert SECRET not in json.dumps(everything(shop))


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda line: line[:-3], "Invalid JSON"),
        (lambda line: line.replace('"importance": ', '"importance": 7'), "importance: Input should be less than"),
        (lambda line: line.replace('"text"', '"words"'), "text: Field required"),
        (lambda line: line.replace('"shop"', '"bank"'), "it is of another project, 'bank'"),
        (lambda _: "[1, 2]", "the whole line: Input should be an object"),
        (lambda line: line.replace('"support": 1', '"support": -1'), "support: Input should be greater than"),
        (lambda line: line.replace('"support": 1', f'"support": {2**63}'), "counted more often than can be stored"),
        (lambda line: re.sub(r'"at": "[^"]*"', '"at": "2026-01-01T00:00:00"', line), "its time has no time zone"),
        (lambda line: re.sub(r'"at": "[^"]*"', '"at": "0001-01-01T00:00:00+14:00"', line), "before the year 1"),
        (lambda line: re.sub(r'"at": "[^"]*"', '"at": "9999-12-31T23:59:59-14:00"', line), "after 9999"),
        (lambda line: line.replace('"text": "', '"text": "' + "x" * 1_000_000), "longer than 1,000,000 characters"),
        (lambda _: '{"a":' * 5000, "Invalid JSON"),
    ],
)
def test_one_wrong_line_and_nothing_is_imported(
    shop: Path, tmp_path: Path, spoil: Callable[[str], str], told: str
) -> None:
    file, again = tmp_path / "memories.jsonl", made(tmp_path / "elsewhere", "shop")
    asked("export", file, "-C", shop)
    lines = file.read_text().splitlines()
    lines[6] = spoil(lines[6])
    file.write_text("\n".join(lines))
    problem = refused("import", file, "-C", again)
    assert problem.startswith("Line 7 is no memory: ")
    assert told in problem
    assert everything(again) == []


@pytest.mark.parametrize("content", [b"", b"hello\n", b"{}\n", b'{"format": "whet history 1"}\n', b"\xff\xfe\x00"])
def test_other_files_are_refused(shop: Path, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "other"
    file.write_bytes(content)
    assert "Give a file that `whet memory export` wrote" in refused("import", file, "-C", shop)


def test_to_standard_output_and_from_standard_input(shop: Path, tmp_path: Path) -> None:
    again = made(tmp_path / "elsewhere", "shop")
    written = asked("export", "-", "-C", shop)
    assert "Exported 8 memories." in written.stderr
    assert "goes to standard output" not in written.stdout
    assert "Imported 8 new memories" in asked("import", "-", "-C", again, input=written.stdout).output
    assert "Name a file" in refused("export", "-", "-C", shop, "--format", "json")


def test_what_cannot_be_written_leaves_what_was_there(shop: Path, tmp_path: Path) -> None:
    assert isinstance(asked("export", tmp_path / "no" / "where", "-C", shop).exception, FileNotFoundError)
    assert list(tmp_path.glob(".*")) == []
    assert "There is nothing to export yet." in refused("export", tmp_path / "x", "-C", made(tmp_path, "new"))


_MEMORIES = st.lists(st.integers(0, 9), max_size=8).map(
    lambda numbers: [run(n, ["t.py::test_a"]) if n % 2 else turn(n, "go") for n in numbers]
)


@given(_MEMORIES)
def test_lines_and_back(memories: list[Memory]) -> None:
    assert list(from_lines(to_lines(PROJECT, memories), PROJECT)) == memories


@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_lines_are_refused_with_a_sentence(lines: list[str]) -> None:
    heading = next(iter(to_lines(PROJECT, [])))
    for given_lines in (lines, [heading, *lines]):
        if any(line.strip() for line in given_lines[given_lines[:1] == [heading] :]) or heading not in given_lines:
            with pytest.raises(RefusedInput, match="Give a file"):
                list(from_lines(given_lines, PROJECT))
        else:
            assert list(from_lines(given_lines, PROJECT)) == []
