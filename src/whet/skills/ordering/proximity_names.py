"""Near by what can be read: imports, names and folders, where execution was never measured."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import chain
from pathlib import PurePosixPath

from whet.skills.ordering.proximity_places import places
from whet.skills.ordering.proximity_signs import Signs, base_name, called, listed
from whet.skills.ordering.proximity_text import Texts, tokens
from whet.tools.changes import FileChange
from whet.tools.imports import ImportGraph

# Of these nobody can tell which tests they reach.
_UNKNOWN_REACH = frozenset({"pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini", "conftest.py"})
_BY_DISTANCE = {1: 0.06, 2: 0.03, 3: 0.015}
_FARTHER = 0.01
_MENTIONS = 0.5
_FILE_MENTIONS = 0.05
_NAMED_AFTER = 0.1
_NAMED_LIKE = 0.3
_BESIDE = 0.02


class _Asked:
    """The tests in question, found by their file or by what their names are about."""

    def __init__(self, signs: Signs, tests: Sequence[str]) -> None:
        self.by_file: dict[str, list[str]] = {}
        self._signs = signs
        for test in tests:
            self.by_file.setdefault(test.partition("::")[0], []).append(test)

    @cached_property
    def _by_token(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for test in chain.from_iterable(self.by_file.values()):
            for token in self._signs.tokens[test]:
                found[token].add(test)
        return dict(found)

    def named_like(self, name: str) -> set[str]:
        """Those whose names hold all tokens of `name`."""
        wanted = tokens(name)
        return set.intersection(*(self._by_token.get(token, set()) for token in wanted)) if wanted else set()


def by_names(
    signs: Signs,
    files: Mapping[str, FileChange],
    executed: Collection[str],
    mapped: Collection[str],
    read: Callable[[str], bytes | None],
    imports: Callable[[], ImportGraph],
) -> None:
    """For tests that were never mapped, and for files whose execution does not tell enough (not in `executed`)."""
    texts, graph = Texts(read), cache(imports)
    everyone = _Asked(signs, signs.tests)
    unmapped = _Asked(signs, [test for test in signs.tests if test not in mapped])
    for file, change in files.items():
        asked = unmapped if file in executed else everyone
        if not asked.by_file or base_name(file) in _UNKNOWN_REACH:
            continue
        _by_place(signs, asked, file)
        if file.endswith(".py"):
            _by_import(signs, asked, file, graph())
        _by_mention(signs, asked, _changed_names(change) if file.endswith(".py") else {base_name(file)}, texts)


def _by_import(signs: Signs, asked: _Asked, file: str, graph: ImportGraph) -> None:
    for importer, distance in graph.distances(file).items():
        value = _BY_DISTANCE.get(distance, _FARTHER)
        for test in asked.by_file.get(importer, ()) if distance else ():
            signs.add(test, value, "imports {}{}", base_name(file), "" if distance == 1 else " by way of others")


def _by_place(signs: Signs, asked: _Asked, file: str) -> None:
    stem, folders = _stem(file), _folders(file)
    for own, tests in asked.by_file.items():
        if stem and stem <= _stem(own):
            for test in tests:
                signs.add(test, _NAMED_AFTER, "its file is named after {}", base_name(file))
        elif folders & _folders(own):
            for test in tests:
                signs.add(test, _BESIDE, "lies in a folder like that of {}", base_name(file))


def _by_mention(signs: Signs, asked: _Asked, names: Collection[str], texts: Texts) -> None:
    if not names:
        return
    what = listed(names)
    users = {file: found for file in asked.by_file if (found := texts.mentioning(file, names))}
    mentioning = [test for file, found in users.items() for test in asked.by_file[file] if called(test) in found]
    for test in mentioning:
        signs.add(test, _MENTIONS * len(mentioning) ** -0.25, "mentions {}, which changed", what)
    for test in chain.from_iterable(asked.by_file[file] for file in users):
        signs.add(test, _FILE_MENTIONS, "its file mentions {}, which changed", what)
    for test in set().union(*map(asked.named_like, names)):
        signs.add(test, _NAMED_LIKE, "is named like {}, which changed", what)


def _changed_names(change: FileChange) -> set[str]:
    """Of functions and classes; a method that Python calls by itself goes by the name of its class."""
    names: set[str] = set()
    for content, lines in ((change.after, change.lines), (change.before, change.old_lines)):
        for name in places(content, lines).names if content is not None else ():
            parts = [part for part in name.split(".") if not part.startswith("__")]
            names.update(parts[-1:])
    return names


@lru_cache(maxsize=4096)
def _stem(file: str) -> frozenset[str]:
    path = PurePosixPath(file)
    stem = path.parent.name if path.name == "__init__.py" else path.stem
    return frozenset(stem.lower().split("_")) - {"", "test", "tests"}


@lru_cache(maxsize=4096)
def _folders(file: str) -> frozenset[str]:
    return frozenset(PurePosixPath(file).parent.parts) - {"src", "lib", "test", "tests"}
