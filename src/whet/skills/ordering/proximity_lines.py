"""Near by execution: a test that ran the changed lines, and little else, is the first to break."""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from whet.core.sheets import Executed
from whet.skills.ordering.proximity_places import Places, places
from whet.skills.ordering.proximity_signs import Signs, base_name
from whet.skills.ordering.proximity_text import tokens
from whet.tools.changes import FileChange
from whet.tools.lines import carried

# Chances as seen with single mutations of real projects: who executes no changed line hardly ever fails.
_BEST = 0.9
_OTHER_NAME = 0.6
_STEEPNESS = 0.6
_TOP_LEVEL = 0.1
_SAME_FUNCTION = 0.01
_SAME_FILE = 0.002
_LITTLE = ", and little else"


def by_executed_lines(
    signs: Signs,
    files: Mapping[str, FileChange],
    executed: Sequence[Executed],
    source: Callable[[str], bytes | None],
    mapped: Mapping[str, int],
) -> set[str]:
    """The changed files for which that tells enough: some test executed them, and the change is inside functions.
    What runs while a module is imported is no test's own."""
    tests = set(signs.tests)
    contents: dict[tuple[str, str], list[Executed]] = defaultdict(list)
    for row in executed:
        if row.file in files and row.test in tests:
            contents[row.file, row.digest].append(row)
    enough: set[str] = set()
    for (file, digest), rows in contents.items():
        where = _places(files[file], digest, source)
        _judge(signs, file, rows, where, mapped, _shown(file, files[file]))
        enough.update(() if where.everywhere else [file])
    return enough


def _places(change: FileChange, digest: str, source: Callable[[str], bytes | None]) -> Places:
    """What changed, in the line numbers of the content that was executed. What came in at the top level shows only
    in the present content."""
    found = _places_in(change, digest, source)
    if change.after is None or not found.loose or found.everywhere:
        return found
    return found._replace(everywhere=places(change.after, change.lines).everywhere)


def _places_in(change: FileChange, digest: str, source: Callable[[str], bytes | None]) -> Places:
    for content, lines in ((change.before, change.old_lines), (change.after, change.lines)):
        if content is not None and hashlib.sha256(content).hexdigest() == digest:
            return places(content, lines)
    content = source(digest)
    if content is None:
        return Places(change.old_lines, frozenset(), loose=True, everywhere=True, names=frozenset())
    return places(content, _carried(change, content))


def _carried(change: FileChange, content: bytes) -> Collection[int]:
    if change.before is not None:
        return carried(change.old_lines, change.before, content)
    if change.after is not None:
        return carried(change.lines, change.after, content)
    return range(1, len(content.splitlines()) + 1)  # only the name is known: it may be any line


def _judge(
    signs: Signs, file: str, rows: Sequence[Executed], where: Places, mapped: Mapping[str, int], shown: str
) -> None:
    hits = [where.changed & row.lines for row in rows]
    rarity = _rarity(Counter(hits))
    lines = len(frozenset[int]().union(*rarity))
    alike = frozenset[str]().union(*(tokens(name.rpartition(".")[2]) for name in where.names))
    name = base_name(file)
    for row, hit in zip(rows, hits, strict=True):
        if hit:
            share = len(row.lines) / max(mapped.get(row.test, 0), len(row.lines))
            named = _OTHER_NAME if alike.isdisjoint(signs.tokens[row.test]) else 1.0
            value = _BEST * (named * rarity[hit] * math.sqrt(share)) ** _STEEPNESS
            little = _LITTLE if share > 0.5 else ""
            signs.add(row.test, value, "executes {} of {} changed lines in {}{}", len(hit), lines, shown, little)
            signs.reach(row.test, file, hit)
        elif where.everywhere:
            signs.add(row.test, _TOP_LEVEL, "executes {}, which changed at its top level", name)
        elif where.around.isdisjoint(row.lines):
            signs.add(row.test, _SAME_FILE, "executes {}, though not what changed in it", name)
        else:
            signs.add(row.test, _SAME_FUNCTION, "executes a function that changed in {}, by another way", name)


def _rarity(hits: Mapping[frozenset[int], int]) -> dict[frozenset[int], float]:
    """A changed line that few tests execute is for those few to defend: 1 / √tests, as a mean over the changed lines,
    each of which is as likely broken as another."""
    crowd: dict[int, int] = {}
    for hit, tests in hits.items():
        crowd.update((line, crowd.get(line, 0) + tests) for line in hit)
    return {hit: sum(1.0 / math.sqrt(crowd[line]) for line in hit) / max(1, len(crowd)) for hit in hits}


def _shown(file: str, change: FileChange) -> str:
    """cart.py:40-44, as the file is now."""
    if not change.lines:
        return base_name(file)
    first, last = min(change.lines), max(change.lines)
    return f"{base_name(file)}:{first}" + (f"-{last}" if last > first else "")
