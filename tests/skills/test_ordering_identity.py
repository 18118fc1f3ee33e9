"""Which names are of one test."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.skills.ordering.identity import Naming, address, renames
from whet.tools.results.reported import Reported


@pytest.mark.parametrize(
    ("test", "classname", "name"),
    [
        ("tests/test_cart.py::TestCart::test_add[1]", "tests.test_cart.TestCart", "test_add[1]"),
        ("test_cart.py::test_add", "test_cart", "test_add"),
        ("tests/test_a.py::A::B::test_x[a::b/c.py]", "tests.test_a.A.B", "test_x[a::b/c.py]"),
        ("src/shop.py::src.shop.total", "src.shop", "src.shop.total"),
    ],
)
def test_addresses_are_those_pytest_writes(test: str, classname: str, name: str) -> None:
    assert address(test) == (classname, name)


@pytest.mark.parametrize(
    ("reported", "name"),
    [
        (Reported("tests.test_a.TestX", "test_y", "tests/test_a.py"), "tests/test_a.py::TestX::test_y"),
        (Reported("tests.test_a", "test_y", "./tests\\test_a.py"), "tests/test_a.py::test_y"),
        (Reported("test_a.TestX", "test_y", "tests/test_a.py"), "tests/test_a.py::TestX::test_y"),
        # The class was inherited: the file is where the function stands, not where the test is.
        (Reported("tests.test_b.TestX", "test_y", "tests/base.py"), "tests.test_b.TestX::test_y"),
        (Reported("tests.test_ab", "test_y", "tests/test_a.py"), "tests.test_ab::test_y"),
        (Reported("tests.test_a", "test_y", "/home/me/tests/test_a.py"), "tests.test_a::test_y"),
        (Reported("tests.test_a", "test_y", "../tests/test_a.py"), "tests.test_a::test_y"),
        (Reported("com.shop.CartTest", "adds"), "com.shop.CartTest::adds"),
        (Reported("com.shop.CartTest", ""), "com.shop.CartTest"),
        (Reported("cart adds", "cart adds", "src/cart.test.js"), "src/cart.test.js::cart adds"),
        (Reported("", "tests/test_a.py::test_y"), "tests/test_a.py::test_y"),
    ],
)
def test_names_without_any_knowledge(reported: Reported, name: str) -> None:
    assert Naming()(reported) == name


def test_the_project_tells_where_the_module_ends_unless_two_could_be_meant() -> None:
    naming = Naming(modules=["tests/test_a.py", "tests/pkg/test_b.py", "tests/pkg/test_b/TestC.py"])
    assert naming(Reported("tests.test_a.TestX.TestY", "test_z[1]")) == "tests/test_a.py::TestX::TestY::test_z[1]"
    assert naming(Reported("tests.pkg.test_b.TestC", "test_z")) == "tests.pkg.test_b.TestC::test_z"
    assert naming(Reported("tests.test_aa", "test_z")) == "tests.test_aa::test_z"


def test_known_tests_come_first_unless_two_have_the_address() -> None:
    known = ["lib/tests/test_a.py::test_x", "a/b.py::test_y", "a.b::test_y"]
    naming = Naming(known=known, modules=["tests/test_a.py"])
    assert naming(Reported("lib.tests.test_a", "test_x", "repo/lib/tests/test_a.py")) == "lib/tests/test_a.py::test_x"
    assert naming(Reported("a.b", "test_y")) == "a.b::test_y"


parts = st.sampled_from(["a", "b", "test_x", "test_y"])
node_ids = st.builds(
    lambda folders, module, classes, test, argument: "::".join(
        ["/".join([*folders, f"{module}.py"]), *classes, test + (f"[{argument}]" if argument else "")]
    ),
    st.lists(parts, max_size=2),
    parts,
    st.lists(st.sampled_from(["TestA", "TestB"]), max_size=2),
    parts,
    st.sampled_from(["", "1", "a-b", "x::y", "[z]"]),
)


@given(st.lists(node_ids, unique=True, max_size=12))
def test_a_known_test_is_found_again_or_left_as_reported_never_taken_for_another(known: list[str]) -> None:
    naming = Naming(known=known)
    for test in known:
        where = address(test)
        found = naming(Reported(*where))
        assert found in (test, "::".join(where))
        assert (found == test) == ([address(other) for other in known].count(where) == 1)


@pytest.mark.parametrize(
    ("known", "collected", "joined"),
    [
        pytest.param(["a/test_x.py::test_1"], ["b/test_x.py::test_1"], {0: 0}, id="moved"),
        pytest.param(["test_x.py::T::test_1", "test_x.py::T::test_2"], ["test_y.py::T::test_1", "test_y.py::T::test_2"],
                     {0: 0, 1: 1}, id="file renamed"),
        pytest.param(["test_x.py::test_1"], ["test_y.py::test_1"], {0: 0}, id="file of one test renamed"),
        pytest.param(["test_x.py::test_1", "test_x.py::test_2"], ["test_y.py::test_1", "test_x.py::test_2"], {},
                     id="one test between files: perhaps another"),
        pytest.param(["test_x.py::test_1", "test_x.py::test_2"], ["test_y.py::test_1", "test_y.py::test_3"], {},
                     id="file of other tests"),
        pytest.param(["a/test_x.py::test_1", "b/test_x.py::test_1"], ["c/test_x.py::test_1"], {}, id="two could be it"),
        pytest.param(["a/test_x.py::test_1"], ["b/test_x.py::test_1", "c/test_x.py::test_1"], {}, id="it could be two"),
        pytest.param(["a/test_x.py::test_1"], ["a/test_x.py::test_1", "b/test_x.py::test_1"], {}, id="still there"),
        pytest.param(["x.py::test_1[a]", "x.py::test_1[b]"], ["x.py::test_1[a]", "x.py::test_1[c]"], {1: 1},
                     id="parameter renamed"),
        pytest.param(["x.py::test_1"], ["x.py::test_1[a]"], {0: 0}, id="parameter added"),
        pytest.param(["x.py::test_1[a]", "x.py::test_1[b]"], ["x.py::test_1[c]", "x.py::test_1[d]"], {},
                     id="parameters renamed, no telling which"),
        pytest.param(["x.py::test_1[a-1]", "x.py::test_1[a-2]"], ["x.py::test_1[b-2]", "x.py::test_1[b-1]"],
                     {0: 1, 1: 0}, id="one value renamed everywhere"),
        pytest.param(["x.py::test_1[a-1]", "x.py::test_1[c-2]"], ["x.py::test_1[b-1]", "x.py::test_1[d-2]"], {},
                     id="two values renamed"),
        pytest.param(["x.py::test_1"], ["x.py::test_2"], {}, id="another function"),
        pytest.param(["tests.x.TestA::test_1[a]"], ["tests/x.py::TestA::test_1[a]"], {0: 0}, id="known from a report"),
        pytest.param(["com.a.CartTest::adds"], ["com.b.CartTest::adds"], {0: 0}, id="class moved to another package"),
    ],
)  # fmt: skip
def test_renames(known: list[str], collected: list[str], joined: dict[int, int]) -> None:
    assert renames(known, collected) == {known[old]: collected[new] for old, new in joined.items()}


@given(st.lists(node_ids, max_size=15), st.lists(node_ids, unique=True, max_size=15))
def test_renames_join_what_is_gone_to_what_is_new_one_to_one(known: list[str], collected: list[str]) -> None:
    found = renames(known, collected)
    assert set(found) <= set(known) - set(collected)
    assert set(found.values()) <= set(collected) - set(known)
    assert len(set(found.values())) == len(found)
    assert renames(known[::-1], collected[::-1]) == found
