"""Which of the project's modules import which, read from their source.

Import statements are found by their form, not by parsing whole files: it takes a fiftieth of the time, so that
nothing need be kept between runs, and files that do not parse still say what they import.
"""

import ast
import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import takewhile
from pathlib import Path, PurePosixPath

from whet.tools.project import Project

_STATEMENT = re.compile(r"[ \t]*((?:from[ \t]+[.\w]+[ \t]+)?import[ \t]*(?:\([^)]*\)|(?:[ \t\w.,*]|\\\r?\n)+))")
_DEFINED = re.compile(r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]*)?=[^=]", re.MULTILINE)
_FOLLOWED = 5  # how many modules a name is followed through before it counts as the last one's

Imported = tuple[int, str, str | None]  # dots, module, name; no name for `import module`


class _Module:
    def __init__(self, source: str) -> None:
        self._source = source

    @cached_property
    def imported(self) -> frozenset[Imported]:
        return frozenset(name for statement in _statements(self._source) for name in _names(statement))

    @cached_property
    def defined(self) -> frozenset[str]:
        """Names of functions, classes and variables at the top level."""
        return frozenset(found[1] or found[2] for found in _DEFINED.finditer(self._source))


class ImportGraph:
    """Python files of the project, and which of them each imports. Paths are relative to the root, with slashes.

    A name that a package merely passes on counts as imported from where it is defined.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._modules = {file: _Module(source) for file, source in sources.items()}
        self._files_by_name = _files_by_name(sources)

    @cached_property
    def imports(self) -> dict[str, frozenset[str]]:
        return {file: frozenset(self._imports(file)) - {file} for file in self._modules}

    def distances(self, file: str) -> dict[str, int]:
        """File → the fewest imports from it to `file`; 0: itself. Files that do not reach it are absent."""
        found = {file: 0}
        waiting = deque(found)
        while waiting:
            reached = waiting.popleft()
            for importer in self._importers.get(reached, ()):
                if importer not in found:
                    found[importer] = found[reached] + 1
                    waiting.append(importer)
        return found

    @cached_property
    def _importers(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for importer, imported in self.imports.items():
            for file in imported:
                found.setdefault(file, []).append(importer)
        return found

    def _imports(self, importer: str) -> Iterator[str]:
        for dots, module, name in self._modules[importer].imported:
            full = _absolute(importer, dots, module)
            file = None if full is None else self._resolve(importer, full, name, dots > 0)
            if file is not None:
                yield file

    def _resolve(self, importer: str, module: str, name: str | None, relative: bool, depth: int = 0) -> str | None:
        """The file that `from module import name` is about; None when it is none of the project's."""
        submodule = None if name is None else self._file(importer, f"{module}.{name}".lstrip("."), relative)
        file = submodule or self._file(importer, module, relative)
        if file is None or submodule or name is None or name == "*" or depth == _FOLLOWED:
            return file
        return self._passed_on(file, name, depth) or file

    def _passed_on(self, file: str, name: str, depth: int) -> str | None:
        for dots, module, passed in sorted(self._modules[file].imported, key=str):
            if passed not in (name, "*"):
                continue
            full = _absolute(file, dots, module)
            found = None if full is None else self._resolve(file, full, name, dots > 0, depth + 1)
            if found is not None and (passed == name or name in self._modules[found].defined):
                return found
        return None

    def _file(self, importer: str, name: str, relative: bool) -> str | None:
        """Relative names are paths below the root; of several files with one name, the importer's nearest."""
        if relative:
            path = name.replace(".", "/")
            return next((f for f in (f"{path}.py", f"{path}/__init__.py") if f in self._modules), None)
        files = self._files_by_name.get(name, ())
        return max(files, key=lambda file: (_shared_folders(file, importer), -len(file)), default=None)


def import_graph(root: Path) -> ImportGraph:
    """Of every Python file below `root`; what cannot be read says nothing."""
    project = Project(root)
    return ImportGraph({file.relative_to(project.root).as_posix(): _text(file) for file in project.python_files()})


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def _statements(source: str) -> Iterator[str]:
    """Looks at the lines that hold the word: trying every line takes ten times as long."""
    place = source.find("import")
    while place >= 0:
        found = _STATEMENT.match(source, source.rfind("\n", 0, place) + 1)
        if found:
            yield found[1].strip()
        place = source.find("import", max(place + 1, found.end() if found else 0))


@lru_cache(maxsize=1 << 14)
def _names(statement: str) -> tuple[Imported, ...]:
    try:
        parsed = ast.parse(statement).body[0]
    except (SyntaxError, ValueError):
        return ()  # prose that looked like an import
    if isinstance(parsed, ast.Import):
        return tuple((0, alias.name, None) for alias in parsed.names)
    if isinstance(parsed, ast.ImportFrom):
        return tuple((parsed.level, parsed.module or "", alias.name) for alias in parsed.names)
    return ()


def _absolute(importer: str, dots: int, module: str) -> str | None:
    """The full name; for a relative import, its path below the root with dots; None when that leaves the root."""
    if not dots:
        return module
    folders = PurePosixPath(importer).parts[:-1]
    if dots - 1 > len(folders):
        return None
    return ".".join((*folders[: len(folders) - (dots - 1)], *([module] if module else [])))


def _files_by_name(files: Collection[str]) -> dict[str, list[str]]:
    """Under every name a file may be imported by: from the root, and from any folder that is no package itself."""
    packages = {str(PurePosixPath(file).parent) for file in files if PurePosixPath(file).name == "__init__.py"}
    found: dict[str, list[str]] = {}
    for file in files:
        path = PurePosixPath(file)
        parts = path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts
        for start in range(len(parts)):
            if start == 0 or "/".join(parts[:start]) not in packages:
                found.setdefault(".".join(parts[start:]), []).append(file)
    return found


def _shared_folders(one: str, other: str) -> int:
    pairs = zip(PurePosixPath(one).parts[:-1], PurePosixPath(other).parts[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
