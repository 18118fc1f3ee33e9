"""A finding names what it resembles where there is a resemblance, and what is known about its place."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.fleet.strollers import Street, Stroller

from whet.bootstrap.executing import Task, execute_with_learning
from whet.core.memories import Memory
from whet.core.records import Finding, now
from whet.fleet.resembling import Resembling, Scene
from whet.memory.embedding import HashedEmbedder
from whet.memory.facts_claims import Claim
from whet.memory.facts_counting import Tally
from whet.memory.remembering_episodes import episodes
from whet.memory.remembering_failures import failure_memory
from whet.memory.retrieval import Retrieval
from whet.settings.model import Settings
from whet.store.sql_store import SqlStore, open_store

EMBEDDER = HashedEmbedder()
BLUE = """\
    def test_blue():
>       assert hue("blue") == 3

tests/test_colours.py:4:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def hue(name):
        table = dict(HUES)
>       return table[name]
E       KeyError: 'blue'

colours.py:5: KeyError"""
REFUSED = """\
    def test_up():
>       connect("127.0.0.1", 1)

tests/test_net.py:4:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def connect(host, port):
>       s.connect((host, port))
E       ConnectionRefusedError: [Errno 111] Connection refused

net.py:5: ConnectionRefusedError"""
TEST = "tests/test_colours.py::test_blue"
FOUND = Finding(kind="failing-test", title="it fails", severity="high", evidence="KeyError: 'blue'", test=TEST)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with open_store(f"sqlite:///{tmp_path}/memories.db") as opened:
        yield opened


def found(finding: Finding) -> Street:
    street = Street()
    street.findings = (finding,)
    return street


def kept(store: SqlStore, memory: Memory) -> str:
    store.memories.keep([memory], EMBEDDER.name, EMBEDDER.embed([memory.found_by()]))
    return memory.id


def failed(store: SqlStore, test: str, text: str) -> str:
    return kept(store, failure_memory("own", test, text, at=now(), run_id="r"))


def compared(store: SqlStore, finding: Finding, said: Mapping[str, str], changed: tuple[str, ...] = ()) -> Finding:
    recall = Retrieval(store.memories, EMBEDDER)
    return Resembling(store.memories, "own", lambda: recall, lambda: EMBEDDER).compare(finding, Scene(said, changed))


def test_what_is_like_nothing_before_resembles_nothing(store: SqlStore) -> None:
    failed(store, "tests/test_net.py::test_up", REFUSED)
    assert compared(store, FOUND, {TEST: BLUE}).memories == ()
    assert compared(store, FOUND, {}).memories == ()


def test_the_same_failure_is_wholly_alike_and_another_of_its_cause_nearly(store: SqlStore) -> None:
    green = failed(store, "tests/test_colours.py::test_green", BLUE.replace("blue", "green"))
    (near,) = compared(store, FOUND, {TEST: BLUE}).memories
    assert near.memory == green
    assert 0.7 < near.weight < 0.99
    assert near.why.startswith("both come through colours.py:5") or near.why.startswith("what they say is alike")
    blue = failed(store, TEST, BLUE)
    same, other = compared(store, FOUND, {TEST: BLUE}).memories
    assert (same.memory, other.memory) == (blue, green)
    assert same.weight > 0.99
    assert same.why.startswith("about the same test; ")


def test_the_same_test_is_named_though_it_says_something_else(store: SqlStore) -> None:
    failed(store, TEST, REFUSED)
    (same,) = compared(store, FOUND, {TEST: BLUE}).memories
    assert same.weight < 0.3
    assert same.why.startswith("about the same test; happened")


def test_troubles_of_other_kinds_are_compared_as_they_are_remembered(store: SqlStore) -> None:
    hangs = Finding(kind="suite-problem", title="The suite hangs", severity="high", evidence="after tests/test_a.py")
    with Task(found(hangs), store, settings=Settings.model_validate({"seed": 3})) as task:
        execute_with_learning(task, Stroller())
    (arrived,) = store.experiences.after(0, "own", 9)
    (finding,) = [each for each in episodes("own", arrived) if each.topic == "finding"]
    (same,) = compared(store, hangs, {}).memories
    assert same.memory == finding.id
    assert same.weight > 0.99
    other = Finding(kind="api-fault", title="GET /books answers 500", severity="high", evidence="no shelf")
    assert compared(store, other, {}).memories == ()


def fact(store: SqlStore, rule: str, *subjects: str) -> str:
    claim = Claim(rule, subjects, f"{rule} is so", Tally(14, 1, 2, 78), True, True, subjects)
    return kept(store, claim.memory("own", now()))


def test_facts_about_the_test_or_its_place_and_the_change_are_known(store: SqlStore) -> None:
    folder = fact(store, "change", "changed:src/prices.py", "file:src/prices.py", "file:tests/")
    fact(store, "change", "changed:src/other.py", "file:src/other.py", "file:tests/")
    fact(store, "change", "changed:src/prices.py", "file:src/prices.py", "file:tests/billing/")
    (known,) = compared(store, FOUND, {}, ("src/prices.py", "README.md")).known
    assert (known.memory, known.text) == (folder, "")
    assert known.why == "it held 14 of 15 times"
    assert known.weight == pytest.approx(0.7018, abs=1e-3)
    assert compared(store, FOUND, {}).known == ()
    flaky = fact(store, "flaky", f"test:{TEST}", "file:tests/test_colours.py")
    assert [each.memory for each in compared(store, FOUND, {}).known] == [flaky]


def test_a_turn_of_the_loop_knows_what_was_said_and_changed_and_notes_the_use(store: SqlStore) -> None:
    alike = failed(store, TEST, BLUE)
    known = fact(store, "change", "changed:src/prices.py", "file:src/prices.py", "file:tests/")
    settings = Settings.model_validate({"seed": 3})
    place = {"said": {TEST: BLUE}, "changed_files": ("src/prices.py",)}
    with Task(found(FOUND), store, settings=settings, **place) as task:  # type: ignore[arg-type]
        lived = Finding.model_validate(execute_with_learning(task, Stroller()).outcome["findings"][0])  # type: ignore[index]
    assert [(each.memory, round(each.weight, 2)) for each in lived.memories] == [(alike, 1.0)]
    assert [each.memory for each in lived.known] == [known]
    assert [each.used for each in store.memories.get([alike, known])] == [1, 1]
