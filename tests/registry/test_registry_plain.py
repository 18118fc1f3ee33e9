"""The registry of folders."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from whet.checks import registry as contract
from whet.checks import registry_harm as harm
from whet.checks.registry import Check, Subject
from whet.checks.registry_samples import facts, policy
from whet.core.errors import RefusedInput, WhetError
from whet.registry.plain import PlainRegistry

KEY, OTHER_KEY = b"k" * 32, b"o" * 32


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / ".whet" / "registry"


@pytest.fixture
def subject(root: Path) -> Subject:
    return Subject(
        lambda: PlainRegistry(root, KEY),
        lambda: PlainRegistry(root, OTHER_KEY),
        lambda digest: root / "artefacts" / digest,
    )


@pytest.mark.parametrize("check", [*contract.CHECKS, *harm.CHECKS], ids=lambda check: check.__name__)
def test_contract(check: Check, subject: Subject, tmp_path: Path) -> None:
    check(subject, tmp_path / "policies")


def test_whatever_is_listed_can_be_opened_at_any_moment(root: Path, tmp_path: Path) -> None:
    """Another process looks while this one keeps: it never meets an artefact that is only half there."""
    many = {f"file{number}": bytes(1000) for number in range(50)}
    opened: set[str] = set()
    with ThreadPoolExecutor(1) as pool, PlainRegistry(root, KEY) as writer, PlainRegistry(root, KEY) as reader:
        kept = pool.submit(lambda: [writer.keep(policy(tmp_path, str(each), many), facts()) for each in range(8)])
        while not kept.done():
            for digest in set(reader.digests()) - opened:
                reader.open(digest)
                opened.add(digest)
    assert opened <= set(kept.result())
    assert len(opened) > 4


def test_what_lies_about_is_not_listed(root: Path) -> None:
    (root / "artefacts" / "notes").mkdir(parents=True)
    assert PlainRegistry(root, KEY).digests() == []


@pytest.mark.parametrize("place", ["", "artefacts"])
def test_something_else_in_its_place_is_no_word_about_what_was_kept(root: Path, tmp_path: Path, place: str) -> None:
    """Whoever is refused is lost; whoever cannot be reached waits."""
    with PlainRegistry(root, KEY) as registry:
        digest = registry.keep(policy(tmp_path, "one"), facts())
        (root / place).rename(tmp_path / "aside")
        (root / place).write_text("no folder")
        with pytest.raises(WhetError, match="is no folder") as told:
            registry.open(digest)
        assert not isinstance(told.value, RefusedInput)
        (root / place).unlink()
        with pytest.raises(RefusedInput, match="There is no artefact"):
            registry.open(digest)
        (tmp_path / "aside").rename(root / place)
        assert registry.open(digest).digest == digest


def test_aliases_that_cannot_be_read_are_named(root: Path) -> None:
    (root / "aliases").mkdir(parents=True)
    (root / "aliases" / "test-executor.json").write_text('{"production": "../../x"}')
    with pytest.raises(RefusedInput, match=r"test-executor\.json does not say which policies .* Remove it"):
        PlainRegistry(root, KEY).named("test-executor")


def test_opening_the_same_again_takes_no_more_room(root: Path, tmp_path: Path) -> None:
    with PlainRegistry(root, KEY) as registry:
        digest = registry.keep(policy(tmp_path, "one"), facts())
        copy = registry.open(digest).folder.parent
        (registry.open(digest).folder / "policy.json").unlink()
        another = registry.open(digest).folder.parent
        assert {path.name for path in copy.parent.iterdir()} == {"lock", another.name}
        assert another != copy


def test_what_the_killed_left_of_aliases_is_removed(root: Path, tmp_path: Path) -> None:
    with PlainRegistry(root, KEY) as registry:
        registry.name("test-executor", "canary", registry.keep(policy(tmp_path, "one"), facts()))
        (root / "aliases" / ".test-executor.json.0").write_text("{")
        registry.name("test-executor", "canary", None)
        assert registry.named("test-executor") == {}
    assert [path.name for path in (root / "aliases").iterdir()] == ["test-executor.json"]
