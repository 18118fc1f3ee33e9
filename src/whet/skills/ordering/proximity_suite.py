"""Near because the suite itself changed: the test, what its file shares, or a fixture it uses."""

from collections.abc import Callable, Collection, Mapping
from pathlib import PurePosixPath

from whet.skills.ordering.proximity_places import Places, places
from whet.skills.ordering.proximity_signs import Signs, base_name, called, listed
from whet.skills.ordering.proximity_text import Texts
from whet.tools.changes import FileChange
from whet.tools.outline import Definition, outline

_ITSELF = 0.8
_USES = 0.5
_SHARED = 0.3
_SAME_FILE = 0.05
_BELOW = 0.1


def is_suite_file(file: str, test_files: Collection[str]) -> bool:
    return file in test_files or base_name(file) == "conftest.py"


def by_own_file(signs: Signs, files: Mapping[str, FileChange]) -> None:
    for file, change in files.items():
        if file in signs.files and change.after is not None:
            _own_file(signs, file, change.after, change)


def _own_file(signs: Signs, file: str, after: bytes, change: FileChange) -> None:
    tests = {called(test) for test in signs.files[file]}
    changed = places(after, change.lines)
    before = {d.name for d in outline(change.before or b"") or ()}
    used = _used(after, changed, tests)
    users = Texts({file: after}.get).mentioning(file, used) if used else set()
    for test in signs.files[file]:
        name = called(test)
        if name not in before:
            signs.add(test, _ITSELF, "is new")
        elif name in changed.names:
            signs.add(test, _ITSELF, "was changed itself")
        elif name in users:
            signs.add(test, _USES, "uses {}, which changed", listed(used))
        elif changed.everywhere or not changed.names.isdisjoint(_classes(name)):
            signs.add(test, _SHARED, "what it shares with others in {} changed", base_name(file))
        else:
            signs.add(test, _SAME_FILE, "stands in {}, which changed elsewhere", base_name(file))


def by_shared_fixtures(signs: Signs, files: Mapping[str, FileChange], read: Callable[[str], bytes | None]) -> None:
    """A conftest that changed outside its functions reaches everything below it, and tells nothing at the root."""
    texts = Texts(read)
    for file, change in files.items():
        folder = PurePosixPath(file).parent.as_posix()
        below = [f for f in signs.files if folder == "." or f.startswith(f"{folder}/")]
        if base_name(file) == "conftest.py" and change.after is not None:
            _fixtures(signs, below, change.after, change, texts, at_root=folder == ".")


def _fixtures(
    signs: Signs, below: Collection[str], after: bytes, change: FileChange, texts: Texts, *, at_root: bool
) -> None:
    changed = places(after, change.lines)
    used = _used(after, changed, ())
    everyone = changed.everywhere or any(_autouse(d) for d in outline(after) or () if d.name in used)
    for file in below:
        users = texts.mentioning(file, used) if used else set()
        for test in signs.files[file]:
            if called(test) in users:
                signs.add(test, _USES, "uses {}, which changed", listed(used))
            elif everyone and not at_root:
                signs.add(test, _BELOW, "conftest.py above it changed")


def _used(content: bytes, changed: Places, tests: Collection[str]) -> set[str]:
    """The changed functions that are no tests, and those that use them in turn."""
    names = {name for name in changed.names if name not in tests and "." not in name}
    texts = Texts({"": content}.get)
    while names:
        users = texts.mentioning("", names)
        more = {name.partition(".")[0] for name in users} - names - {test.partition(".")[0] for test in tests} - {""}
        if not more:
            return names
        names |= more
    return names


def _autouse(definition: Definition) -> bool:
    return any("autouse=True" in decorator for decorator in definition.decorators)


def _classes(name: str) -> list[str]:
    parts = name.split(".")[:-1]
    return [".".join(parts[: n + 1]) for n in range(len(parts))]
