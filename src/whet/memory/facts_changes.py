"""Which tests fail when which file changes."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from whet.core.memories import Memory
from whet.memory.facts_claims import Claim, counted
from whet.memory.facts_counting import Association, Occasion, associations
from whet.memory.remembering_runs import listed


def change_claims(runs: Sequence[Memory]) -> Iterator[Claim]:
    """Counted in pieces of work, not in runs: somebody who runs the suite ten times while mending one thing has
    changed it once."""
    found = [each for each in associations(_pieces_of_work(runs)) if not _within(each.condition, each.effect)]
    in_all: dict[tuple[str, str], int] = {(each.condition, each.effect): each.tally.support for each in found}
    in_one: dict[tuple[str, str], int] = defaultdict(int)
    for condition, effect, tally, _ in found:
        in_one[condition, _parent(effect)] = max(in_one[condition, _parent(effect)], tally.support)
    for each in found:
        own, folder = each.tally.support, (each.condition, _parent(each.effect))
        one_file_accounts_for_it = _folder(each.effect) and in_one[each.condition, each.effect] == own
        yield _claim(each, said_better=one_file_accounts_for_it or in_all.get(folder, 0) > own)


def _claim(found: Association, said_better: bool) -> Claim:
    where = f"under {found.effect}" if _folder(found.effect) else f"in {found.effect}"
    sentence = f"Tests {where} fail when {found.condition} changes: {counted(found.tally)}."
    subjects = (f"changed:{found.condition}", f"file:{found.condition}", f"file:{found.effect}")
    worth = found.beyond_chance and not said_better
    return Claim("change", (found.condition, found.effect), sentence, found.tally, found.tally.holds(), worth, subjects)


def _pieces_of_work(runs: Sequence[Memory]) -> Iterator[Occasion]:
    """Whole runs of the same change, from the same commit: what failed in any of them failed."""
    pieces: dict[tuple[object, ...], list[Memory]] = defaultdict(list)
    for run in runs:
        told = run.about.get("changed") is not None and run.about.get("failed_tests") is not None
        if told and run.about.get("complete") is True:
            pieces[run.about.get("base"), run.about["changed"]].append(run)
    for same in pieces.values():
        first = min(same, key=lambda run: (run.at, run.id))
        failed = {test for run in same for test in listed(run.about["failed_tests"])}
        yield Occasion(first.at, first.id, frozenset(listed(first.about["changed"])), frozenset(_places(failed)))


def _places(tests: set[str]) -> Iterator[str]:
    """Test files, and the folders they are in, which end with a slash."""
    for file in {test.partition("::")[0] for test in tests}:
        yield file
        folder = PurePosixPath(file).parent
        if folder.parts:
            yield f"{folder}/"


def _folder(effect: str) -> bool:
    return effect.endswith("/")


def _parent(effect: str) -> str:
    """A folder's own claims are not about the folder above."""
    return "" if _folder(effect) else f"{PurePosixPath(effect).parent}/"


def _within(changed: str, effect: str) -> bool:
    """A test that fails because it was changed itself is no news."""
    return changed == effect or (_folder(effect) and changed.startswith(effect))
