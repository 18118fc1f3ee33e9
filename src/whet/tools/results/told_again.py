"""One run, reported in two formats: pytest with --junit-xml and --alluredir, Maven with surefire and Allure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from whet.core.sheets import Sheet
from whet.tools.results.grouping import SAME_RUN_GAP

TOLD_AGAIN = "of runs that another format tells of, too"
# What is an error in one format is a failure in another; few tell what was expected.
_ALIKE = str.maketrans("eXx", "fps")


def told_again(sheets: Sequence[Sheet]) -> set[str]:
    """Ids of runs that another one tells of: of another format, with the same tests and outcomes, within the time in
    which results are of one run. Each tells of one: two jobs that write both formats are two runs."""
    if len({sheet.source for sheet in sheets}) < 2:
        return set()
    alike: defaultdict[int, list[Sheet]] = defaultdict(list)
    for sheet in sheets:
        # A number, because a million results may be compared.
        alike[hash(frozenset(zip(sheet.tests, sheet.outcomes.translate(_ALIKE), strict=True)))].append(sheet)
    return {again for same in alike.values() for again in _again(same)}


def _again(same: Sequence[Sheet]) -> Iterable[str]:
    """Of runs that are alike: those of every format but one, which is the same one whatever files' times say."""
    formats = sorted({sheet.source for sheet in same})
    for further in formats[1:]:
        untold = [sheet for sheet in same if sheet.source == formats[0]]
        for sheet in sorted((one for one in same if one.source == further), key=lambda one: one.key):
            apart = {abs(one.at - sheet.at): one for one in untold}
            if apart and min(apart) <= SAME_RUN_GAP:
                untold.remove(apart[min(apart)])
                yield sheet.id
