"""Recorded histories are read in each of their dialects, or refused with a sentence."""

import gzip
from pathlib import Path

import pytest
from benchmarks.ordering_history import read_history
from tests.benchmarks.recorded import Execution, history, written

from whet.core.errors import RefusedInput

ROWS = [
    Execution(2, 3, "b", 0.5, 0),
    Execution(1, 1, "a", 2.0, 1),
    Execution(1, 2, "b", 1.0, 0),
    Execution(2, 4, "a", 3.0, 1),
]


@pytest.mark.parametrize(
    ("names", "between"),
    [
        (("cycle", "exec_id", "test", "duration", "verdict"), ","),
        (("Cycle", "Id", "Name", "Duration", "Verdict"), ";"),
        (("BuildId", "Id", "Name", "Duration", "Verdict"), ";"),
    ],
)
def test_each_dialect_says_the_same(tmp_path: Path, names: tuple[str, ...], between: str) -> None:
    read = read_history(written(tmp_path / "some.csv", ROWS, names, between))
    assert (read.name, read.tests) == ("some", ("b", "a"))
    first, second = read.cycles
    assert (first.number, second.number) == (1, 2)
    assert [read.tests[test] for test in first.tests] == ["a", "b"]
    assert (first.seconds.tolist(), first.failed.tolist()) == ([2.0, 1.0], [True, False])


def test_a_build_is_the_cycle_where_a_file_has_both(tmp_path: Path) -> None:
    names = ("BuildId", "Id", "Name", "Duration", "Verdict", "Cycle")
    text = ";".join(names) + "\n5;1;a;1.0;1;9\n"
    path = tmp_path / "some.csv"
    path.write_text(text)
    assert read_history(path).cycles[0].number == 5


def test_a_gzipped_history_has_the_name_without_endings(tmp_path: Path) -> None:
    plain = written(tmp_path / "plain.csv", ROWS)
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_history(packed).name == "packed"
    assert len(read_history(packed).cycles) == 2


def test_first_failures_are_cycles_where_no_failing_test_had_failed_before(tmp_path: Path) -> None:
    failing = {1: "a", 2: "a", 3: "ab", 4: "c", 5: "a", 6: ""}
    rows = [
        Execution(cycle, 10 * cycle + n, test, 1.0, int(test in tests))
        for cycle, tests in failing.items()
        for n, test in enumerate("abcd")
    ]
    read = history(tmp_path / "some.csv", rows)
    assert read.first_failures() == {1, 4}
    assert [cycle.number for cycle in read.failing] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n1,2\n", "has the columns a, b"),
        ("", "has the columns of nothing"),
        ("cycle,exec_id,test,duration,verdict\n", "has no executions"),
        ("cycle,exec_id,test,duration,verdict\n1,1,a,nan,0\n", "line 2: a duration of nan"),
        ("cycle,exec_id,test,duration,verdict\n1,1,a,-1,0\n", "line 2: a duration of -1"),
        ("cycle,exec_id,test,duration,verdict\n1,1,a,1,red\n", "line 2: could not convert"),
        ("cycle,exec_id,test,duration,verdict\ninf,1,a,1,0\n", "line 2: cannot convert"),
        ("cycle,exec_id,test,duration,verdict\n1,1,a\n", "line 2: "),
    ],
)
def test_what_is_no_history_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "some.csv"
    path.write_text(text)
    with pytest.raises(RefusedInput, match=sentence):
        read_history(path)


def test_what_is_not_gzip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.csv.gz"
    path.write_text("cycle,exec_id,test,duration,verdict\n")
    with pytest.raises(RefusedInput, match="cannot be read"):
        read_history(path)
