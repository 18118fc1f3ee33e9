"""A failing test is followed, and where it first goes another way than when it passed is the statement that changed."""

import subprocess
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from whet.core.errors import RefusedInput
from whet.tools import turning
from whet.tools.process import Limits
from whet.tools.project import Project
from whet.tools.python import Python
from whet.tools.turning import turn, turns

CART = """\
import time


class Cart:
    def __init__(self, prices):
        self.prices = prices
        self.started = time.perf_counter()

    def total(self):
        whole = 0
        for price in self.prices:
            whole = whole + price
        return self.rounded(whole)

    def rounded(self, whole):
        if whole > 10:
            return whole // 10 * 10
        return whole
"""
TEST = """\
from cart import Cart


def test_total():
    assert Cart([1, 2, 3]).total() == 6
"""
NAME = "tests/test_cart.py::test_total"
Changed = Callable[[str, str], Project]


def git(root: Path, *arguments: str) -> None:
    names = ("-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *names, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    """Committed while it passes, then one thing replaced by another."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "cart.py").write_text(CART)
    (tmp_path / "tests" / "test_cart.py").write_text(TEST)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "green")

    def replaced(before: str, after: str) -> Project:
        assert before in CART
        (tmp_path / "src" / "cart.py").write_text(CART.replace(before, after))
        return Project(tmp_path)

    return replaced


def turned(project: Project, python: Python, limits: Limits) -> dict[str, Any]:
    found = turn(project, python, NAME, "HEAD", limits)
    assert found is not None
    return found


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the user's interpreter."""
    monkeypatch.syspath_prepend(str(Path(turning.__file__).with_name("probe")))


def followed(source: str, judge: Any) -> Any:
    place: dict[str, Any] = {"__name__": "cart"}
    exec(compile(source, "cart.py", "exec"), place)  # noqa: S102
    follower = import_module("whet_turning.following").Follower(
        lambda file: file if file == "cart.py" else None, judge.meet
    )
    follower.start()
    try:
        with suppress(TypeError):
            place["Cart"]([1, 2, 3]).total()
    finally:
        follower.stop()
    judge.end()
    return follower


@pytest.mark.parametrize(
    ("before", "after", "place", "kind"),
    [
        ("whole + price", "whole - price", "Cart.total+3", "value"),
        ("whole > 10", "whole < 10", "Cart.rounded+1", "way"),
        ("self.prices = prices", "self.prices = prices[1:]", "Cart.__init__+1", "value"),
        ("        return whole\n", "        return None\n", "Cart.rounded+3", "value"),
        ("rounded(whole)", "rounded(whole, 1)", "Cart.total+4", "way"),
        ("rounded(whole)", "rounded(whole + 1)", "Cart.total+4", "value"),
        ("in self.prices:", "in self.prices[:2]:", "Cart.total+2", "way"),
    ],
)
@pytest.mark.usefixtures("probe")
def test_it_turns_at_what_was_changed(before: str, after: str, place: str, kind: str) -> None:
    comparing = import_module("whet_turning.comparing")
    green = comparing.Keeping()
    followed(CART, green)
    steady = comparing.Steadying(green.events)
    followed(CART, steady)
    judge = comparing.Comparing(steady.events)
    follower = followed(CART.replace(before, after), judge)
    assert judge.turn is not None
    assert (follower.place, judge.turn["kind"]) == (f"cart.py:{place}", kind), "and not at the time, another each time"


@pytest.mark.usefixtures("probe")
def test_the_same_way_is_no_turn_and_what_was_not_kept_is_not_known() -> None:
    comparing = import_module("whet_turning.comparing")
    green = comparing.Keeping()
    followed(CART.replace("time.perf_counter()", "0"), green)
    cut_events = [*green.events[:5], comparing.NOT_KNOWN]
    same, cut, longer = (comparing.Comparing(events) for events in (green.events, cut_events, green.events))
    for judge, source in ((same, CART), (cut, CART), (longer, CART.replace("whole + price", "whole"))):
        followed(source.replace("time.perf_counter()", "0"), judge)
    assert same.turn == {}
    assert cut.turn is None
    assert longer.turn is not None
    assert longer.turn["kind"] == "value"


def test_what_became_of_what_is_told(changed: Changed, python: Python, limits: Limits) -> None:
    found = turned(changed("whole + price", "whole - price"), python, limits)
    assert (found["name"], found["was"], found["now"], found["line"]) == ("whole", "1", "-1", 12)


def test_lines_above_change_nothing(changed: Changed, python: Python, limits: Limits) -> None:
    project = changed("whole + price", "whole - price")
    source = project.root / "src" / "cart.py"
    source.write_text("# a remark\n\n" + source.read_text())
    found = turned(project, python, limits)
    assert (found["place"], found["line"]) == ("src/cart.py:Cart.total+3", 14)


def test_importing_belongs_to_the_test(changed: Changed, python: Python, limits: Limits) -> None:
    project = changed("import time\n", "import time\n\nRATE = 1\n")
    source = project.root / "src" / "cart.py"
    source.write_text(source.read_text().replace("whole + price", "whole + RATE * price"))
    git(project.root, "commit", "-qam", "a rate")
    source.write_text(source.read_text().replace("RATE = 1", "RATE = 2"))
    found = turned(project, python, limits)
    assert (found["place"], found["line"], found["was"], found["now"]) == ("src/cart.py:<module>+2", 3, "1", "2")


def test_lines_that_came_while_importing_do_not_hide_the_cause(
    changed: Changed, python: Python, limits: Limits
) -> None:
    """A constant for what stood in the code, and a slip beside it."""
    project = changed("class Cart:", "ROUND_FROM = 10\n\n\nclass Cart:")
    source = project.root / "src" / "cart.py"
    source.write_text(source.read_text().replace("whole > 10", "whole < ROUND_FROM"))
    found = turned(project, python, limits)
    assert (found["place"], found["kind"]) == ("src/cart.py:Cart.rounded+1", "way")


def test_several_are_followed_in_the_same_runs(changed: Changed, python: Python, limits: Limits) -> None:
    project = changed("whole + price", "whole - price")
    more = [TEST, "def test_other():\n    assert Cart([20]).total() == 20\n"]
    more += ["def test_none():\n    assert Cart([]).total() == 0\n"]
    (project.root / "tests" / "test_cart.py").write_text("\n\n".join(more))
    other, none = NAME.replace("total", "other"), NAME.replace("total", "none")
    assert list(turns(project, python, [NAME, other], "HEAD", limits)) == [NAME], "there was no other then"
    git(project.root, "commit", "-qm", "more tests", "tests/test_cart.py")
    found = turns(project, python, [NAME, other, none, "tests/test_gone.py::test_x"], "HEAD", limits)
    assert set(found) == {NAME, other}, "one passes, one is gone"
    assert {turned and turned["place"] for turned in found.values()} == {"src/cart.py:Cart.total+3"}


def test_what_any_of_several_may_have_imported_is_told_of_one_alone(
    changed: Changed, python: Python, limits: Limits
) -> None:
    project = changed("whole + price", "whole - price")
    (project.root / "src" / "rates.py").write_text("RATE = 1\n")
    (project.root / "tests" / "test_rates.py").write_text(
        "from rates import RATE\n\n\ndef test_rate():\n    assert RATE == 1\n"
    )
    git(project.root, "add", "src/rates.py", "tests/test_rates.py")
    git(project.root, "commit", "-qm", "rates", "src/rates.py", "tests/test_rates.py")
    (project.root / "src" / "rates.py").write_text("RATE = 2\n")
    found = turns(project, python, [NAME, "tests/test_rates.py::test_rate"], "HEAD", limits)
    assert {test: turned and turned["place"] for test, turned in found.items()} == {NAME: "src/cart.py:Cart.total+3"}


@pytest.mark.parametrize(("commit", "said"), [("nowhere", "no commit"), ("HEAD", "does not fail now")])
def test_what_cannot_be_compared_is_refused(
    commit: str, said: str, changed: Changed, python: Python, limits: Limits
) -> None:
    with pytest.raises(RefusedInput, match=said):
        turn(changed("whole > 10", "whole > 10"), python, NAME, commit, limits)


def test_a_test_that_never_passed_is_refused(changed: Changed, python: Python, limits: Limits) -> None:
    project = changed("whole > 10", "whole < 10")
    git(project.root, "commit", "-qam", "red")
    with pytest.raises(RefusedInput, match="does not pass at HEAD"):
        turn(project, python, NAME, "HEAD", limits)


@pytest.mark.usefixtures("probe")
def test_who_follows_never_disturbs(monkeypatch: pytest.MonkeyPatch) -> None:
    following, comparing = (import_module(f"whet_turning.{name}") for name in ("following", "comparing"))
    green = comparing.Keeping()
    followed(CART, green)

    def lost(_: object) -> str:
        raise RecursionError

    monkeypatch.setattr(following, "shown", lost)
    kept, judge = comparing.Keeping(), comparing.Comparing(green.events)
    for one in (kept, judge):
        followed(CART, one)
    assert kept.events[-1] == following.NOT_KNOWN
    assert judge.turn is None


class Hostile:
    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(name)

    def __repr__(self) -> str:
        raise AssertionError("repr")


class HostileDict(dict[str, int]):
    def __iter__(self) -> Any:
        raise AssertionError("iter")

    items = keys = __len__ = __iter__


class Slotted:
    __slots__ = ("here", "missing")

    def __init__(self) -> None:
        self.here = 1


@pytest.mark.usefixtures("probe")
def test_values_are_shown_without_asking_them() -> None:
    shown = import_module("whet_turning.values").shown
    turned_round = OrderedDict(a=1, b=2)
    turned_round.move_to_end("a")
    assert shown(Hostile()) == "Hostile()"
    assert shown(HostileDict(a=1)) == "HostileDict(1,'a':1)"
    assert shown(Slotted()) == "Slotted('here':1,'missing':None)"
    assert shown(turned_round) == "OrderedDict(2,'b':2,'a':1)"
    assert shown("<A at 0x7f46e079ea90>") == shown("<A at 0x7f46e0000000>")
    assert shown("x" * 50) != shown("x" * 49 + "y"), "the end of a long text counts, too"
    deep: list[Any] = []
    deep.append(deep)
    assert len(shown(deep)) < 100
