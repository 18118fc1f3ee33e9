"""The yardstick of triage measures what it says: figures worked by hand."""

import json
import math
from pathlib import Path

import pytest
from benchmarks.triage_cases import Case, Recording, load
from benchmarks.triage_methods import Bm25
from benchmarks.triage_recording import _place
from benchmarks.triage_report import Answer, ceiling, figures

from whet.memory.failures import Turn


def case(mutant: int, test: str, text: str, function: str = "a.py:f") -> Case:
    return Case(mutant, function, test, text, "", None)


def recording(*cases: Case) -> Recording:
    return Recording("shop", cases, {}, 10)


def test_bm25_by_hand() -> None:
    scores = Bm25(["red apple", "red pear tree", "green"]).scores(0)
    norm = 1.2 * (0.25 + 0.75 * 3 / 2)  # three words where the mean is two
    rarity = math.log((3 - 2 + 0.5) / (2 + 0.5) + 1)
    assert scores[1] == pytest.approx(rarity * 2.2 / (1 + norm))
    assert scores[2] == 0


def test_only_failures_with_five_others_of_their_mutant_are_asked_about() -> None:
    six = [case(1, f"t{n}", f"x{n}") for n in range(6)]
    five = [case(2, f"t{n}", f"y{n}") for n in range(5)]
    assert recording(*six, *five).queries() == [0, 1, 2, 3, 4, 5]


def test_precision_counts_the_same_mutant_and_per_mutant_counts_each_once() -> None:
    first = [case(1, f"t{n}", f"x{n}") for n in range(6)]
    third = case(3, "t9", "z")
    second = [case(2, f"t{n}", f"y{n}", "a.py:g") for n in range(12)]
    recorded = recording(*first, third, *second)
    told = figures(recorded, [Answer(0, (1, 2, 3, 4, 5)), Answer(1, (0, 2, 3, 4, 6)), Answer(7, (0, 1, 2, 3, 8))])
    assert told["precision"] == pytest.approx((6 * 0.9 + 12 * 0.2) / 18), "those asked stand for all of their mutant"
    assert told["per_mutant"] == pytest.approx((0.9 + 0.2) / 2)
    assert told["in_function"] == pytest.approx((6 * 1.0 + 12 * 0.2) / 18), "the third is in the first one's function"
    assert told["by_mutants_in_function"]["2"] == {"mutants": 1, "precision": pytest.approx(0.9)}
    low, high = told["interval"]
    assert 0.2 <= low <= told["precision"] <= high <= 0.9


def test_nobody_can_tell_apart_what_says_the_same() -> None:
    alone = [case(1, f"t{n}", f"x{n}") for n in range(6)]
    assert ceiling(recording(*alone), lines=False) == 1.0
    twins = [case(mutant, f"t{n}", f"x{n}") for n in range(6) for mutant in (1, 2)]
    assert ceiling(recording(*twins), lines=True) == pytest.approx(0.5)
    apart = [one._replace(diverged=frozenset({f"+a.py:{one.mutant}"})) for one in twins]
    assert ceiling(recording(*apart), lines=True) == 1.0
    assert ceiling(recording(*apart), lines=False) == pytest.approx(0.5)
    turned = [one._replace(turned=Turn(f"a.py:f+{one.mutant}")) for one in twins]
    assert ceiling(recording(*turned), turns=True) == 1.0
    assert ceiling(recording(*turned), lines=True) == pytest.approx(0.5)


def test_a_place_is_a_function_and_its_statement_s_lines() -> None:
    source = b"class A:\n  def f(self):\n    if (1 and\n        2):\n      return g(\n        3)\n"
    assert _place(source, 4) == ("A.f", range(3, 5))
    assert _place(source, 6) == ("A.f", range(5, 7))


def test_what_was_recorded_is_read_without_what_names_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    (folder / "repo").mkdir(parents=True)
    (folder / "repo" / "a.py").write_text("def f(x):\n    if x:\n        return 1\n    return 2\n")
    (folder / "green.json").write_text(json.dumps({"executed": {"t": {"a.py": [2, 3]}}}))
    text = "E   <A at 0x7f46e079ea90> in /tmp/pytest-of-me/pytest-12/a0"
    recorded = {"number": 4, "file": "a.py", "function": "f", "failures": [{"test": "t", "text": text, "message": "m"}]}
    (folder / "recorded.jsonl").write_text(json.dumps(recorded) + "\n")
    (folder / "traced.jsonl").write_text(json.dumps({"number": 4, "traces": {"t": ["+a.py:4", "-a.py:3"]}}) + "\n")
    turned = Turn("a.py:f+1", 2, "way", "", "a.py:f+2\tline", "a.py:f+3\tline")
    (folder / "turned.jsonl").write_text(json.dumps({"number": 4, "turns": {"t": turned._asdict()}}) + "\n")
    (read,) = load(tmp_path, "shop").cases
    assert read.turned == turned
    assert read.text == "E   <A at 0> in /tmp/pytest-of-me/pytest-0/a0"
    assert read.diverged == frozenset({"+a.py:4", "-a.py:3"})
    assert load(tmp_path, "shop").covered == {"t": frozenset({"a.py:f"})}
