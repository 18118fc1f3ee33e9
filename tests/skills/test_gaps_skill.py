"""Coverage gaps: which lines belong together, and which come first."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.skills.gaps import COMPLEX, Weighing, gaps, ranges
from whet.tools.coverage_data import CoverageReport, FileCoverage
from whet.tools.source import Function


def report(**missing: Sequence[int]) -> CoverageReport:
    files = {
        f"{name}.py": FileCoverage(
            executed=(),
            missing=tuple(lines),
            missing_branches=None,
            branches=None,
            covered_branches=None,
            functions=(),
        )
        for name, lines in missing.items()
    }
    return CoverageReport(files=files, line_percent=None, branch_percent=None, function_percent=None)


def function(name: str, start: int, end: int, complexity: int = 1) -> Function:
    return Function(name=name, start=start, definition=start, body=start + 1, end=end, complexity=complexity, calls=())


def weighing(
    functions: Mapping[str, Sequence[Function]] | None = None,
    changed: Mapping[str, Sequence[int]] | None = None,
    churn: Mapping[str, int] | None = None,
    callers: Mapping[str, int] | None = None,
) -> Weighing:
    return Weighing(functions or {}, changed or {}, churn or {}, callers or {})


def test_full_coverage_has_no_gaps() -> None:
    assert gaps(report(a=[]), weighing()) == ()


def test_lines_go_to_the_innermost_function_and_the_rest_to_the_module() -> None:
    nested = {"a.py": [function("outer", 1, 10), function("outer.inner", 4, 6)]}
    found = gaps(report(a=[2, 5, 6, 9, 20]), weighing(nested))
    assert {g.function: g.lines for g in found} == {"outer": (2, 9), "outer.inner": (5, 6), None: (20,)}


def test_no_line_is_lost_or_told_twice() -> None:
    nested = {"a.py": [function("f", 1, 30), function("f.g", 5, 20), function("f.g.h", 7, 9), function("k", 40, 50)]}
    lines = [1, 6, 8, 9, 15, 25, 35, 45]
    assert sorted(n for g in gaps(report(a=lines), weighing(nested)) for n in g.lines) == lines


def test_a_score_worked_by_hand() -> None:
    (gap,) = gaps(
        report(a=[2, 3, 4]),
        weighing({"a.py": [function("Cart.total", 1, 9, complexity=10)]}, {"a.py": [3, 8]}, {"a.py": 4}, {"total": 3}),
    )
    # 3 lines · (1 + 10/5) + 10 · 1 changed + 2 · 3 callers + 4 commits
    assert gap.score == pytest.approx(29.0)
    assert gap.reasons == (
        "1 of these lines just changed",
        "Cart.total has complexity 10",
        "called from 3 places",
    )
    assert (gap.matters, gap.complexity) == (True, 10)


def test_a_gap_without_a_reason_does_not_matter() -> None:
    (gap,) = gaps(report(a=[2]), weighing({"a.py": [function("f", 1, 9, complexity=COMPLEX - 1)]}, callers={"f": 1}))
    assert (gap.reasons, gap.matters) == ((), False)


def test_top_level_code_has_no_complexity() -> None:
    (gap,) = gaps(report(a=[2]), weighing())
    assert (gap.function, gap.complexity) == (None, None)
    assert gap.score == pytest.approx(1.2)


def test_what_just_changed_comes_first() -> None:
    found = gaps(report(a=[1, 2], b=[1, 2], c=[1, 2]), weighing(changed={"c.py": [2]}, churn={"b.py": 5}))
    assert [g.file for g in found] == ["c.py", "b.py", "a.py"]


def test_churn_alone_never_outranks_a_changed_line() -> None:
    found = gaps(report(a=[1], b=[1]), weighing(changed={"a.py": [1]}, churn={"b.py": 10_000}))
    assert [g.file for g in found] == ["a.py", "b.py"]


def test_equals_are_told_in_the_order_of_files_and_lines() -> None:
    functions = {"a.py": [function("late", 10, 12), function("early", 1, 3)]}
    found = gaps(report(b=[1], a=[11, 2]), weighing(functions))
    assert [(g.file, g.lines) for g in found] == [("a.py", (2,)), ("a.py", (11,)), ("b.py", (1,))]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([], ""),
        ([4], "4"),
        ([1, 2, 3, 7], "1-3, 7"),
        ([7, 3, 1, 2], "1-3, 7"),
        ([1, 3, 5], "1, 3, 5"),
        ([9, 10, 11, 99, 100], "9-11, 99-100"),
    ],
)
def test_ranges(lines: list[int], text: str) -> None:
    assert ranges(lines) == text


@given(st.sets(st.integers(1, 300)))
def test_ranges_say_every_line_and_no_other(lines: set[int]) -> None:
    spans = [part.split("-") for part in ranges(sorted(lines)).split(", ") if part]
    told = [n for span in spans for n in range(int(span[0]), int(span[-1]) + 1)]
    assert told == sorted(lines)
    # no two spans could have been one
    assert all(int(b[0]) > int(a[-1]) + 1 for a, b in pairwise(spans))
