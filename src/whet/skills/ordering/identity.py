"""Which names are of one test: what reports call it, and what it is called after it was moved or renamed.

History is joined only where that is sure. A wrong join gives a test a past that is not its own; a missed
one costs it a few runs.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import NamedTuple, TypeVar

from whet.tools.results.reported import Reported

Key = TypeVar("Key", bound=Hashable)
# Beyond this, comparing every old parameter set with every new one takes too long for what it gives.
_MOST_PARAMETERS = 100


class Address(NamedTuple):
    """How pytest names a test in JUnit XML, and Allure and unittest runners too."""

    classname: str
    name: str


def address(test: str) -> Address:
    """`tests/test_cart.py::TestCart::test_add[1]` → `tests.test_cart.TestCart`, `test_add[1]`."""
    path, bracket, arguments = test.partition("[")
    file, *inside = path.split("::")
    names = [file.replace("/", ".").removesuffix(".py"), *inside]
    return Address(".".join(names[:-1]), names[-1] + bracket + arguments)


class Naming:
    """The canonical name of a reported test: pytest's node id where it is sure, else `classname::name`.

    Sure is what exactly one known test is called in reports; else what the report says of the file; else the
    one module of the project that the class name begins with.
    """

    def __init__(self, known: Iterable[str] = (), modules: Iterable[str] = ()) -> None:
        known = list(known)
        self._known = _unique((address(test), test) for test in known)
        self._bare = _unique((address(test).name, test) for test in known)
        self._modules = _unique((_dotted(module), module) for module in modules)
        self._given: dict[Reported, str] = {}

    def __call__(self, reported: Reported) -> str:
        name = self._given.get(reported)
        if name is None:
            name = self._given[reported] = self._find(reported)
        return name

    def _find(self, reported: Reported) -> str:
        classname, name, file = reported
        if not classname:
            return name if "::" in name or "/" in name else self._bare.get(name, name)
        known = self._known.get(Address(classname, name))
        return known or _in_file(reported) or self._in_project(reported) or _as_reported(classname, name, file)

    def _in_project(self, reported: Reported) -> str | None:
        parts = reported.classname.split(".")
        heads = ((".".join(parts[:length]), parts[length:]) for length in range(1, len(parts) + 1))
        found = [(self._modules[head], classes) for head, classes in heads if head in self._modules]
        return _node_id(*found[0], reported.name) if len(found) == 1 else None


def _in_file(reported: Reported) -> str | None:
    """By the file of the report, when the class name agrees with it; its path is as the report's root has it."""
    file = reported.file.replace("\\", "/").removeprefix("./")
    path = PurePosixPath(file)
    if path.suffix != ".py" or path.is_absolute() or ".." in path.parts or file[1:2] == ":":
        return None
    parts = _dotted(file).split(".")
    for start in range(len(parts)):
        module = ".".join(parts[start:])
        if f"{reported.classname}.".startswith(f"{module}."):
            return _node_id(
                file, [part for part in reported.classname[len(module) + 1 :].split(".") if part], reported.name
            )
    return None


def _as_reported(classname: str, name: str, file: str) -> str:
    """Other languages: jest repeats the name as class and tells its file; surefire names no test when a class fails."""
    path = [file] if file and not file.endswith(".py") else []
    return "::".join([*path, *([classname] if classname != name else []), *([name] if name else [])])


def _node_id(file: str, classes: Sequence[str], name: str) -> str:
    return "::".join([file, *classes, name])


def _dotted(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".")


def _unique(pairs: Iterable[tuple[Key, str]]) -> dict[Key, str]:
    """Only the keys that one test alone has."""
    found: defaultdict[Key, set[str]] = defaultdict(set)
    for key, test in pairs:
        found[key].add(test)
    return {key: tests.pop() for key, tests in found.items() if len(tests) == 1}


def renames(known: Collection[str], collected: Sequence[str]) -> dict[str, str]:
    """Old name → new name, for tests that were moved or whose parameter was renamed.

    `collected` must be everything there is, not a selection: what is not in it counts as gone. Never maps onto a
    name that is known already, and never two names onto one.
    """
    gone, new = set(known).difference(collected), set(collected).difference(known)
    kept_files = {_file(test) for test in set(known).intersection(collected)}
    moved_together = partial(_moved_together, kept_files=kept_files)
    found: dict[str, str] = {}
    for rule in (_as_reports_call_it, _moved_with_its_file, moved_together, _parameter_renamed):
        found |= rule(gone, new)
        gone.difference_update(found)
        new.difference_update(found.values())
    return found


def _as_reports_call_it(gone: Collection[str], new: Collection[str]) -> dict[str, str]:
    """It was learned from a report before pytest's own name for it was known."""
    return _pairs(gone, new, lambda test: test, lambda test: "::".join(address(test)))


def _moved_with_its_file(gone: Collection[str], new: Collection[str]) -> dict[str, str]:
    """The file has the same name in another directory."""

    def key(test: str) -> tuple[str, str]:
        return PurePosixPath(_file(test)).name, _tail(test)

    return _pairs(gone, new, key, key)


def _moved_together(gone: Collection[str], new: Collection[str], kept_files: Collection[str]) -> dict[str, str]:
    """Everything that left one file came to one other, which is nothing else's: the file was renamed. Between files
    that both live on, one test alone may be deleted here and thought of anew there."""
    pairs = _pairs(gone, new, _tail, _tail)
    leaving, coming = Counter(map(_file, gone)), Counter(map(_file, new))
    ways = Counter((_file(old), _file(other)) for old, other in pairs.items())
    sure = {
        (old, other)
        for (old, other), moved in ways.items()
        if moved == leaving[old] == coming[other] and (moved > 1 or not {old, other} & set(kept_files))
    }
    return {old: other for old, other in pairs.items() if (_file(old), _file(other)) in sure}


def _parameter_renamed(gone: Collection[str], new: Collection[str]) -> dict[str, str]:
    """One parameter set of a function went and one came, or one value was replaced wherever it stood."""
    left, came = _by_function(gone), _by_function(new)
    found: dict[str, str] = {}
    for function in left.keys() & came.keys():
        olds, news = left[function], came[function]
        found |= {olds[0]: news[0]} if len(olds) == len(news) == 1 else _one_value_replaced(olds, news)
    return found


def _one_value_replaced(olds: Sequence[str], news: Sequence[str]) -> dict[str, str]:
    """`[py-1]`, `[py-2]` → `[python-1]`, `[python-2]`."""
    if len(olds) != len(news) or len(olds) > _MOST_PARAMETERS:
        return {}
    changes = {(old, new): change for old in olds for new in news if (change := _only_change(old, new))}
    one = len(changes) == len(olds) and len(set(changes.values())) == 1
    return dict(changes.keys()) if one else {}


def _only_change(old: str, new: str) -> tuple[int, str, str] | None:
    before, after = (test.partition("[")[2].removesuffix("]").split("-") for test in (old, new))
    if len(before) != len(after):
        return None
    changes = [(i, b, a) for i, (b, a) in enumerate(zip(before, after, strict=True)) if b != a]
    return changes[0] if len(changes) == 1 else None


def _pairs(
    gone: Iterable[str], new: Iterable[str], old_key: Callable[[str], Key], new_key: Callable[[str], Key]
) -> dict[str, str]:
    """Those whose key only one of the gone and one of the new tests has."""
    olds = _unique((old_key(test), test) for test in gone)
    news = _unique((new_key(test), test) for test in new)
    return {olds[key]: news[key] for key in olds.keys() & news.keys() if key}


def _by_function(tests: Iterable[str]) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for test in sorted(tests):
        found[test.partition("[")[0]].append(test)
    return found


def _file(test: str) -> str:
    return test.partition("::")[0]


def _tail(test: str) -> str:
    return test.partition("::")[2]
