"""Which tests are near a change, by the lines they executed."""

import hashlib
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.sheets import Executed
from whet.skills.ordering.proximity import Known, Near, nearness
from whet.tools.changes import Change, FileChange
from whet.tools.imports import ImportGraph
from whet.tools.lines import changed_lines

CART = b'''\
"""A cart."""

LIMIT = 10


class Cart:
    currency = "EUR"

    def add(self, item, count=1):
        """Put something in."""
        if count > LIMIT:
            raise ValueError(count)
        self.items[item] = count

    def total(self):
        price = sum(self.items.values())
        return price


def empty():
    return Cart()
'''


def nothing(name: str) -> None:
    """There is no such content."""


def line(text: bytes, content: bytes = CART) -> int:
    return next(n for n, found in enumerate(content.splitlines(), start=1) if text in found)


def edited(before: bytes, *replaced: tuple[bytes, bytes]) -> FileChange:
    after = before
    for old, new in replaced:
        assert old in after
        after = after.replace(old, new, 1)
    old_lines, lines = changed_lines(before, after)
    return FileChange(after, before, lines, old_lines)


def near(
    executed: Mapping[str, set[int]],
    change: FileChange,
    totals: Mapping[str, int] | None = None,
    mapped_on: bytes = CART,
    seconds: Mapping[str, float] | None = None,
) -> dict[str, Near]:
    digest = hashlib.sha256(mapped_on).hexdigest()
    known = Known(
        executed=[Executed(test, "shop/cart.py", digest, frozenset(lines)) for test, lines in executed.items()],
        source={digest: mapped_on}.get,
        mapped={test: len(lines) for test, lines in executed.items()} | dict(totals or {}),
        read=nothing,
        imports=lambda: ImportGraph({}),
        seconds=seconds or {},
    )
    tests = list(dict.fromkeys([*executed, *(totals or {})]))
    return nearness(tests, Change("c0ffee", {"shop/cart.py": change}, True), known)


def ranked(found: Mapping[str, Near]) -> list[str]:
    return sorted(found, key=lambda test: -found[test].value)


ADD, TOTAL = {11, 13}, {16, 17}


def test_who_executes_the_changed_line_comes_first() -> None:
    executed = {"t.py::test_a": ADD, "t.py::test_b": TOTAL, "t.py::test_c": {line(b"return Cart()")}}
    found = near(executed, edited(CART, (b"sum(", b"max(")), totals={"t.py::test_d": 7})
    assert ranked(found)[0] == "t.py::test_b"
    assert found["t.py::test_b"].reason == "executes 1 of 1 changed lines in cart.py:16, and little else"
    assert found["t.py::test_a"].reason == "executes cart.py, though not what changed in it"
    assert found["t.py::test_d"] == Near(0.0, "nothing near it changed")


def test_who_executes_little_else_is_nearer() -> None:
    executed = {"t.py::test_whole_shop": ADD | TOTAL, "t.py::test_b": ADD | TOTAL}
    found = near(executed, edited(CART, (b"sum(", b"max(")), totals={"t.py::test_whole_shop": 4000})
    assert ranked(found) == ["t.py::test_b", "t.py::test_whole_shop"]
    assert "little else" not in found["t.py::test_whole_shop"].reason


def test_who_is_named_like_the_changed_function_is_nearer() -> None:
    executed = {"t.py::test_something": TOTAL, "t.py::test_total_of_two": TOTAL}
    assert ranked(near(executed, edited(CART, (b"sum(", b"max("))))[0] == "t.py::test_total_of_two"


def test_a_line_that_few_execute_is_for_those_few() -> None:
    crowd = {f"t.py::test_{n}": ADD for n in range(9)}
    found = near(
        crowd | {"t.py::test_x": TOTAL}, edited(CART, (b"sum(", b"max("), (b"count > LIMIT", b"count >= LIMIT"))
    )
    assert ranked(found)[0] == "t.py::test_x"


def test_the_next_one_should_reach_other_changed_lines() -> None:
    """Nine tests of one changed line pass or fail together; the tenth, of another, goes second."""
    crowd = {f"t.py::test_add_{n}": ADD for n in range(9)}
    change = edited(CART, (b"sum(", b"max("), (b"count > LIMIT", b"count >= LIMIT"))
    found = near(crowd | {"t.py::test_x": TOTAL | {1, 2, 3}}, change, totals={"t.py::test_x": 20})
    assert ranked(found)[1] == "t.py::test_x"


def test_among_equals_the_quick_one_goes_first() -> None:
    executed = {"t.py::test_a": TOTAL, "t.py::test_b": TOTAL}
    found = near(executed, edited(CART, (b"sum(", b"max(")), seconds={"t.py::test_a": 3.0, "t.py::test_b": 0.1})
    assert found["t.py::test_b"].value > found["t.py::test_a"].value


def test_lines_are_found_again_after_earlier_changes() -> None:
    """The map was made on a content that is neither the one before the change nor the present one."""
    before = b"# one more line\n# and another\n" + CART
    found = near({"t.py::test_a": ADD, "t.py::test_b": TOTAL}, edited(before, (b"sum(", b"max(")))
    assert ranked(found)[0] == "t.py::test_b"
    assert "cart.py:18" in found["t.py::test_b"].reason


def test_a_map_made_after_the_change_counts_too() -> None:
    change = edited(CART, (b"LIMIT = 10\n", b"LIMIT = 10\nLEAST = 1\n"), (b"sum(", b"max("))
    assert change.after is not None
    moved = {n + 1 for n in TOTAL}
    found = near({"t.py::test_a": ADD, "t.py::test_b": moved}, change, mapped_on=change.after)
    assert ranked(found)[0] == "t.py::test_b"


def test_inserted_lines_reach_those_who_pass_there() -> None:
    change = edited(CART, (b"        return price", b"        price += 1\n        return price"))
    assert ranked(near({"t.py::test_a": ADD, "t.py::test_b": TOTAL}, change))[0] == "t.py::test_b"


def test_a_changed_constant_reaches_those_who_use_it() -> None:
    found = near({"t.py::test_a": TOTAL, "t.py::test_b": ADD}, edited(CART, (b"LIMIT = 10", b"LIMIT = 11")))
    assert ranked(found)[0] == "t.py::test_b"
    assert found["t.py::test_b"].value > 10 * found["t.py::test_a"].value


def test_a_changed_default_reaches_those_who_call() -> None:
    found = near({"t.py::test_a": TOTAL, "t.py::test_b": ADD}, edited(CART, (b"count=1", b"count=2")))
    assert ranked(found)[0] == "t.py::test_b"


def test_a_changed_class_reaches_those_who_call_its_methods() -> None:
    executed = {"t.py::test_a": {line(b"return Cart()")}, "t.py::test_b": ADD}
    assert ranked(near(executed, edited(CART, (b"class Cart:", b"class Cart(dict):"))))[0] == "t.py::test_b"


def test_what_runs_at_import_reaches_everyone_who_executes_the_file() -> None:
    change = edited(CART, (b"LIMIT = 10\n", b"LIMIT = 10\nprint()\n"))
    found = near({"t.py::test_a": TOTAL, "t.py::test_b": ADD}, change, totals={"t.py::test_c": 5})
    assert found["t.py::test_a"].reason == "executes cart.py, which changed at its top level"
    assert ranked(found)[-1] == "t.py::test_c"


@pytest.mark.parametrize("change", [(b"Put something in", b"Puts it in"), (b'"""A cart."""', b'"""A cart"""')])
def test_documentation_reaches_nobody_in_particular(change: tuple[bytes, bytes]) -> None:
    values = {
        found.value for found in near({"t.py::test_a": ADD, "t.py::test_b": TOTAL}, edited(CART, change)).values()
    }
    assert len(values) == 1


def test_a_deleted_file_reaches_all_who_executed_it() -> None:
    deleted = FileChange(None, CART, frozenset(), changed_lines(CART, b"")[0], deleted=True)
    found = near({"t.py::test_a": ADD, "t.py::test_b": TOTAL}, deleted, totals={"t.py::test_c": 5})
    assert ranked(found)[-1] == "t.py::test_c"
    assert min(found["t.py::test_a"].value, found["t.py::test_b"].value) > 0.1


def test_a_file_of_which_only_the_name_is_known_may_have_changed_anywhere() -> None:
    found = near({"t.py::test_a": ADD}, FileChange(None, None), totals={"t.py::test_c": 5})
    assert found["t.py::test_a"].value > 0.1 > found["t.py::test_c"].value


def test_a_file_that_does_not_parse_is_judged_by_its_lines() -> None:
    broken = CART.replace(b"def total(self):", b"def total(self:")
    found = near({"t.py::test_a": ADD, "t.py::test_b": TOTAL}, edited(broken, (b"sum(", b"max(")), mapped_on=broken)
    assert ranked(found)[0] == "t.py::test_b"


def test_no_change_says_nothing() -> None:
    known = Known([], nothing, {}, nothing, lambda: ImportGraph({}))
    assert nearness(["t.py::test_a"], Change("c0ffee", {}, False), known) == {}


def test_a_change_of_unknown_reach_says_nothing() -> None:
    known = Known([], nothing, {}, nothing, lambda: ImportGraph({}))
    for file in ("pyproject.toml", "conftest.py", "setup.cfg"):
        change = Change("c0ffee", {file: edited(b"a = 1\n", (b"1", b"2"))}, True)
        assert nearness(["t.py::test_a", "t.py::test_b"], change, known) == {}


NUMBERS = st.sets(st.integers(1, 25), min_size=1)


@given(
    executed=st.dictionaries(st.sampled_from([f"t.py::test_{n}" for n in range(6)]), NUMBERS, min_size=1), lines=NUMBERS
)
def test_every_test_gets_a_chance_between_0_and_1(executed: dict[str, set[int]], lines: set[int]) -> None:
    changed = frozenset(lines)
    found = near(executed, FileChange(CART, CART, changed, changed), totals={"t.py::test_0": 3})
    assert found.keys() == {*executed, "t.py::test_0"}
    assert all(0.0 <= one.value < 1.0 and one.reason for one in found.values())


@given(
    executed=st.dictionaries(st.sampled_from([f"t.py::test_{n}" for n in range(9)]), NUMBERS),
    number=st.sampled_from([11, 13, 16]),
)
def test_who_executes_a_changed_line_is_nearer_than_who_does_not(executed: dict[str, set[int]], number: int) -> None:
    changed = frozenset([number])
    found = near(executed, FileChange(CART, CART, changed, changed), totals=dict.fromkeys(executed, 10_000))
    reaching = [found[test].value for test, lines in executed.items() if number in lines]
    others = [found[test].value for test, lines in executed.items() if number not in lines]
    assert not reaching or not others or min(reaching) > max(others)
