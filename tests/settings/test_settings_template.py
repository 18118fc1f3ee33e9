"""The block that `whet init` writes parses, equals the defaults and disturbs nothing."""

import re
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.core.errors import WhetError
from whet.settings import Settings, commented_toml, keys, load_settings, unused_keys, write_into
from whet.settings.template import toml_value


def uncommented(text: str) -> str:
    return re.sub(r"^#(?=\S)", "", text, flags=re.MULTILINE)


def test_as_written_it_sets_nothing() -> None:
    table = tomllib.loads(commented_toml())["tool"]["whet"]
    assert Settings.model_validate(table) == Settings()
    assert all(inner == {} for inner in table.values())


def test_uncommented_it_says_the_defaults() -> None:
    table = tomllib.loads(uncommented(commented_toml()))["tool"]["whet"]
    assert Settings.model_validate(table) == Settings()
    settable = {key.path for key in keys() if key.default not in (None, {})}
    said = {f"{name}.{inner}" for name, values in table.items() if isinstance(values, dict) for inner in values}
    assert said | {name for name, value in table.items() if not isinstance(value, dict)} == settable
    assert unused_keys(Settings.model_validate(table)) == sorted(key.path for key in keys() if not key.used)


def test_examples_of_keys_without_default_are_allowed_and_explained() -> None:
    examples = re.findall(r"^# Not set; for example: (.*)$", commented_toml(), re.MULTILINE)
    names = {key.name for key in keys() if key.default in (None, {})}
    assert {example.partition(" ")[0] for example in examples} == names
    for key in keys():
        if key.default in (None, {}):
            value = tomllib.loads(f"v = {toml_value(key.example)}")["v"]
            Settings.model_validate({key.table: {key.name: value}} if key.table else {key.name: value})


def test_every_key_is_explained() -> None:
    for key in keys():
        assert key.description.endswith("."), key.path
        assert key.description in commented_toml()


def test_chosen_values_stand_uncommented(tmp_path: Path) -> None:
    chosen = {"minutes": 5.0, "python": 'C:\\py "3"\\python.exe', "q_learning": {"learning_rate": 0.5}}
    chosen |= {"agents": ["test-executor"], "rewards": {"weights": {"coverage_gain": 0.5}}}
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    assert write_into(tmp_path / "pyproject.toml", chosen).name == "pyproject.toml"
    assert load_settings(tmp_path, {}) == Settings.model_validate(chosen)


def test_values_that_are_not_allowed_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"The new \[tool.whet\]: minutes is 0"):
        write_into(tmp_path / "pyproject.toml", {"minutes": 0})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "before",
    [
        b'# shop\n[project]\nname = "shop"  # odd   spacing\n\n\n',
        b'[project]\nname = "no newline at the end"',
        b'[project]\r\nname = "crlf"\r\n',
        b"",
        '[project]\nname = "ümlaut"\n[tool.other]\nx = 1\n'.encode(),
    ],
)
def test_what_is_there_stays_byte_for_byte(tmp_path: Path, before: bytes) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_bytes(before)
    file.chmod(0o640)
    assert write_into(file) == file
    after = file.read_bytes()
    assert after.startswith(before)
    assert not before or re.search(rb"\n\r?\n\[tool.whet\]", after), "a blank line sets the block apart"
    assert (b"\r\n" in before) == (b"\r\n" in after)
    assert after.count(b"\n") == after.count(b"\r\n") or b"\r\n" not in after
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert load_settings(tmp_path, {}) == Settings()
    assert [each.name for each in tmp_path.iterdir()] == ["pyproject.toml"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text("[project]\n")
    link = tmp_path / "pyproject.toml"
    link.symlink_to("real.toml")
    write_into(link)
    assert link.is_symlink()
    assert "[tool.whet]" in (tmp_path / "real.toml").read_text()


def test_without_pyproject_it_becomes_whet_toml(tmp_path: Path) -> None:
    written = write_into(tmp_path / "pyproject.toml", {"minutes": 3.0})
    assert written == tmp_path / "whet.toml"
    assert not (tmp_path / "pyproject.toml").exists()
    assert load_settings(tmp_path, {}) == Settings(minutes=3.0)
    whole = tomllib.loads(uncommented(written.read_text()))
    assert Settings.model_validate(whole) == Settings(minutes=3.0)


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("pyproject.toml", "[tool.whet.limits]\n", r"has a table \[tool.whet\] already"),
        ("whet.toml", "", "whet.toml exists already"),
        ("pyproject.toml", "[project\n", "not valid TOML"),
        ("pyproject.toml", "tool = {ruff = {}}\n", r"cannot take a table \[tool.whet\]"),
    ],
)
def test_what_cannot_be_added_to_is_left_alone(tmp_path: Path, file: str, text: str, said: str) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(WhetError, match=said):
        write_into(tmp_path / "pyproject.toml")
    assert (tmp_path / file).read_text() == text
    assert len(list(tmp_path.iterdir())) == 1


@settings(deadline=None)
@given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8"))))
def test_any_text_survives_being_written(value: dict[str, str]) -> None:
    assert tomllib.loads(f"v = {toml_value(value)}") == {"v": value}
