"""The registry of folders."""

from pathlib import Path

import pytest

from whet.checks import registry as contract
from whet.checks import registry_harm as harm
from whet.checks.registry import Check, Subject
from whet.core.errors import RefusedInput
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


def test_what_lies_about_is_not_listed(root: Path) -> None:
    (root / "artefacts" / "notes").mkdir(parents=True)
    assert PlainRegistry(root, KEY).digests() == []


def test_aliases_that_cannot_be_read_are_named(root: Path) -> None:
    (root / "aliases").mkdir(parents=True)
    (root / "aliases" / "test-executor.json").write_text('{"production": "../../x"}')
    with pytest.raises(RefusedInput, match=r"test-executor\.json does not say which policies .* Remove it"):
        PlainRegistry(root, KEY).named("test-executor")
