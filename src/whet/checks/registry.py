"""What every `Registry` must do. Run all of it against an implementation of your own::

@pytest.mark.parametrize("check", whet.checks.registry.CHECKS)
def test_my_registry(check, tmp_path):
    check(Subject(lambda: MyRegistry(tmp_path, KEY), lambda: MyRegistry(tmp_path, OTHER_KEY), folder_of), tmp_path)
"""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from whet.checks.expectations import expect, expect_error
from whet.checks.registry_samples import AGENT, contents, facts, policy
from whet.core.errors import RefusedInput
from whet.core.registries import Alias, Registry


class ClosingRegistry(Registry, Protocol):
    def close(self) -> None:
        """Let go of the folders that were handed out."""


class Subject(NamedTuple):
    """`opened` opens the same, initially empty, registry each time; `stranger` the same with another project's key.
    `folder`: where it keeps the files of an artefact, for a check to harm them."""

    opened: Callable[[], ClosingRegistry]
    stranger: Callable[[], ClosingRegistry]
    folder: Callable[[str], Path]


Check = Callable[[Subject, Path], None]
CHECKS: list[Check] = []


def _check(check: Check) -> Check:
    CHECKS.append(check)
    return check


@_check
def what_was_kept_comes_back(subject: Subject, below: Path) -> None:
    with closing(subject.opened()) as registry:
        expect(registry.digests(), [], "of an empty registry")
        digest = registry.keep(policy(below, "one"), facts())
        kept = registry.open(digest)
        expect((kept.digest, kept.facts), (digest, facts()), "what is known")
        expect(contents(kept.folder), contents(below / "one"), "the files")
    with closing(subject.opened()) as registry:
        expect(contents(registry.open(digest).folder), contents(below / "one"), "after opening again")
        expect(registry.digests(), [digest], "what is listed")


@_check
def the_same_is_kept_once(subject: Subject, below: Path) -> None:
    backwards = dict(reversed(list(facts().config.items())))
    with closing(subject.opened()) as registry:
        digest = registry.keep(policy(below, "one"), facts())
        expect(registry.keep(below / "one", facts(config=backwards)), digest, "the same in another order")
        expect(registry.digests(), [digest], "what is listed")
        others = [
            registry.keep(policy(below, "two"), facts()),
            registry.keep(below / "one", facts(metrics={"reward": -1.5})),
            registry.keep(below / "one", facts(pictures={"curve.svg": b"<svg />"})),
        ]
        expect(registry.digests(), sorted({digest, *others}), "four different ones")
        expect(len({digest, *others}), 4, "of them")


@_check
def unfit_policies_are_refused(subject: Subject, below: Path) -> None:
    (below / "nothing").mkdir(parents=True)
    policy(below, "linked").joinpath("link").symlink_to(below / "nothing")
    os.mkfifo(policy(below, "pipe") / "pipe")
    with closing(subject.opened()) as registry:
        for name in ("nothing", "absent", "linked", "pipe"):
            expect_error(RefusedInput, registry.keep, below / name, facts())
        for number, name in enumerate(
            (".hidden", "-option", "a b", "ü", "a\\b", "line\nbreak", "a/b/c/d/e/f/g/h/i", "Name.txt")
        ):
            expect_error(RefusedInput, registry.keep, policy(below, f"odd{number}", {name: b""}), facts())
        expect(registry.digests(), [], "nothing was kept")


@_check
def unfit_facts_are_refused(subject: Subject, below: Path) -> None:
    folder = policy(below, "one")
    unfit: list[dict[str, Any]] = [
        *({"metrics": {"reward": value}} for value in (float("nan"), float("inf"), 10**400, None, True, "1")),
        *({"config": {"value": value}} for value in (float("nan"), b"", object(), "\ud800", {1: "a", "1": "b"})),
        *({"lineage": {"value": value}} for value in (-float("inf"), {1, 2})),
        *({"agent": agent} for agent in ("", "../up", "a/b", "a b", "Agent", "x" * 101, "a.b")),
        *({"pictures": {name: b""}} for name in ("curve.html", "../curve.svg", "a/b.svg", ".svg")),
    ]
    with closing(subject.opened()) as registry:
        for each in unfit:
            expect_error(RefusedInput, registry.keep, folder, facts(**each))
        expect(registry.digests(), [], "nothing was kept")


@_check
def unknown_digests_are_refused(subject: Subject, _: Path) -> None:
    with closing(subject.opened()) as registry:
        for digest in ("0" * 64, "", "..", "../" * 3, "A" * 64, f"{'0' * 64}\n", "0" * 63 + "'"):
            expect_error(RefusedInput, registry.open, digest)
            expect_error(RefusedInput, registry.name, AGENT, "production", digest)


@_check
def aliases_point_where_they_were_told(subject: Subject, below: Path) -> None:
    with closing(subject.opened()) as registry:
        expect(registry.named(AGENT), {}, "of an agent never met")
        registry.name(AGENT, "canary", None)
        one, two = (registry.keep(policy(below, name), facts()) for name in ("one", "two"))
        other = registry.keep(below / "one", facts(agent="other"))
        registry.name(AGENT, "production", one)
        registry.name(AGENT, "canary", two)
        registry.name("other", "production", other)
        expect_error(RefusedInput, registry.name, AGENT, "production", other)
        expect_error(RefusedInput, registry.name, AGENT, cast(Alias, "staging"), one)
        expect_error(RefusedInput, registry.name, "../up", "production", one)
        expect(registry.named(AGENT), {"production": one, "canary": two}, "two of them")
        registry.name(AGENT, "production", two)
        for _ in range(2):
            registry.name(AGENT, "canary", None)
    with closing(subject.opened()) as registry:
        expect(registry.named(AGENT), {"production": two}, "moved, and taken away")
        expect(registry.named("other"), {"production": other}, "of the other agent")


@_check
def what_is_handed_out_is_a_copy(subject: Subject, below: Path) -> None:
    with closing(subject.opened()) as registry:
        digest = registry.keep(policy(below, "one"), facts())
        given = registry.open(digest).folder
        expect(registry.open(digest).folder, given, "the same folder while it is right")
        expect(
            given.stat().st_mode & 0o077 and given.parent.parent.stat().st_mode & 0o077, 0, "nobody else may enter it"
        )
        (given / "policy.json").write_bytes(b"changed")
        expect(contents(registry.open(digest).folder), contents(below / "one"), "of which the next one knows nothing")
        given = registry.open(digest).folder
        (given / "policy.json").write_bytes(b"changed")
        (subject.folder(digest) / "files" / "policy.json").write_bytes(b"changed later")
        expect((given / "policy.json").read_bytes(), b"changed", "what was handed out is not the registry's")
        expect_error(RefusedInput, registry.open, digest)
    with closing(subject.opened()) as registry:
        registry.keep(below / "one", facts())
        expect(contents(registry.open(digest).folder), contents(below / "one"), "kept again, it is whole again")


@_check
def copies_do_not_pile_up(subject: Subject, below: Path) -> None:
    registry = subject.opened()
    folder = registry.open(registry.keep(policy(below, "one"), facts())).folder
    registry.close()
    expect(folder.exists(), False, "after closing")
