"""What was lived is remembered once, masked, in order; whoever is killed on the way loses and repeats nothing."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import update
from tests.forked import forked
from tests.memory.lived import PROJECT, begin, failing, live

from whet.core.memories import LONGEST_TEXT, Memory, Wanted
from whet.core.records import Finding
from whet.memory.embedding import HashedEmbedder
from whet.memory.remembering import BATCH, Remembering
from whet.memory.remembering_cues import situation_words, state_cue
from whet.memory.remembering_texts import fitting, subjects
from whet.store.schema import experiences
from whet.store.sql_store import SqlStore, open_store

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def store(store_url: str) -> Iterator[SqlStore]:
    with open_store(store_url) as opened:
        yield opened


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[SqlStore]:
    with open_store(f"sqlite:///{tmp_path}/whet.db") as opened:
        yield opened


def remembering(store: SqlStore, project: str = PROJECT) -> Remembering:
    return Remembering(store, store.memories, HashedEmbedder(), project)


def remembered(store: SqlStore, topic: str | None = None, project: str = PROJECT) -> list[Memory]:
    found = store.memories.newest(Wanted(project=project), 1000)
    return [each for each in found if topic in (None, each.topic)]


def test_an_experience_tells_who_did_what_where_and_what_came_of_it(store: SqlStore) -> None:
    begin(store)
    lived = live(store, "k1", failed="pytest could not start")
    assert remembering(store).catch_up() == 1
    (memory,) = remembered(store)
    assert memory.text == (
        "test-executor chose go. It could not do its job: pytest could not start Reward +1.00. "
        "The suite was small, its pace fast, failing: no, changed: yes, history: some, budget: ample."
    )
    assert memory.cue is not None
    assert {"agent=test-executor", "num_tests=128", "pace=fast", "ci_environment=no"} <= set(memory.cue.split())
    assert memory.subjects == ("agent:test-executor", "state:state", "action:go", "run:run-1")
    told = {name: memory.about[name] for name in ("run_id", "decision_id", "action", "reward", "failed", "state_key")}
    assert told == {
        "run_id": "run-1", "decision_id": lived.decision.id, "action": "go", "reward": 1.0, "failed": True,
        "state_key": "state",
    }  # fmt: skip
    assert memory.at == lived.at


def test_what_is_no_experience_any_more_stops_nobody_who_reads_on(store: SqlStore) -> None:
    begin(store)
    for number in range(BATCH + 6):
        live(store, f"k{number}")
    spoilt = update(experiences).values(kind="").where(experiences.c.key.not_in(["k1", f"k{BATCH + 3}"]))
    store._database.write(lambda connection: connection.execute(spoilt))
    assert [each.experience.key for each in store.experiences.after(0, PROJECT, 1)] == ["k1"]
    assert [each.experience.key for each in store.experiences.after(0, PROJECT, BATCH)] == ["k1", f"k{BATCH + 3}"]
    assert remembering(store).catch_up() == 2
    assert not remembering(store).behind()


def test_everything_once_however_often_it_is_asked_for(store: SqlStore) -> None:
    begin(store)
    for number in range(5):
        live(store, f"k{number}", failing())
    assert remembering(store).catch_up() == 6
    before = remembered(store)
    assert remembering(store).catch_up() == 0
    store.memories.drop_model(PROJECT, "hashed-1")
    assert remembered(store) == before


def test_the_same_failure_again_is_the_same_memory_met_once_more(store: SqlStore) -> None:
    begin(store)
    live(store, "k1", failing(), failing("tests/test_cart.py::test_other"))
    remembering(store).catch_up()
    live(store, "k2", failing())
    remembering(store).catch_up()
    met = {each.about["test"]: each.support for each in remembered(store, "failure")}
    assert met == {"tests/test_cart.py::test_sum": 2, "tests/test_cart.py::test_other": 1}


def test_whoever_saw_the_whole_traceback_and_whoever_saw_the_message_agree(embedded: SqlStore) -> None:
    said = "E       assert 7 == 3\nE        +  where 7 = add(1, 2)"
    whole = f"def test_sum():\n>       assert add(1, 2) == 3\n{said}\n\nt.py:3: AssertionError"
    begin(embedded)
    live(embedded, "k1", failing(evidence=whole))
    live(embedded, "k2", failing(evidence="assert 9 == 3\n +  where 9 = add(1, 2)"))
    live(embedded, "k3", failing(evidence="Traceback (most recent call last):\n  File x\nassert 5 == 3"))
    live(embedded, "k4", failing(evidence="KeyError: 'x'"))
    remembering(embedded).catch_up()
    assert {each.support: whole in each.text for each in remembered(embedded, "failure")} == {3: True, 1: False}


def test_a_batch_done_again_counts_nothing_twice(embedded: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a kill between keeping and marking."""
    begin(embedded)
    for number in range(3):
        live(embedded, f"k{number}", failing())
    with monkeypatch.context() as patched:
        patched.setattr(embedded.memories, "set_mark", lambda *_: None)
        remembering(embedded).catch_up(1)
    before = remembered(embedded)
    assert remembering(embedded).catch_up() == 0
    assert remembered(embedded) == before
    assert [each.support for each in remembered(embedded, "failure")] == [3]


def test_killed_at_any_moment_it_ends_the_same(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/whet.db"
    with open_store(url) as store:
        begin(store)
        for number in range(3 * BATCH):
            live(store, f"k{number}", failing(f"tests/test_{number % 7}.py::test_it"))

    def remember() -> None:
        with open_store(url) as store:
            os.write(go, b".")
            remembering(store).catch_up()

    for delay in (0.0, 0.02, 0.06, 0.12):
        ready, go = os.pipe()
        child = forked(remember)
        os.read(ready, 1)
        signal.sigtimedwait((), delay)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    with open_store(url) as store:
        remembering(store).catch_up()
        assert len(remembered(store, "experience")) == 3 * BATCH
        assert sum(each.support for each in remembered(store, "failure")) == 3 * BATCH
        assert store.audit.verify().problem is None


def test_one_call_does_so_much_and_the_next_goes_on(embedded: SqlStore) -> None:
    begin(embedded)
    for number in range(BATCH + 1):
        live(embedded, f"k{number}")
    assert remembering(embedded).catch_up(1) == BATCH
    assert remembering(embedded).behind()
    assert remembering(embedded).catch_up(1) == 1
    assert not remembering(embedded).behind()


def test_a_project_remembers_its_own_runs_alone(store: SqlStore) -> None:
    begin(store, "ours")
    begin(store, "theirs", "elsewhere")
    for number, run_id in enumerate(("ours", "theirs", "ours", "theirs")):
        live(store, f"k{number}", run_id=run_id)
    assert remembering(store).catch_up() == 2
    assert {each.about["run_id"] for each in remembered(store)} == {"ours"}
    assert remembered(store, project="elsewhere") == []


def test_what_the_budget_cut_short_says_nothing(embedded: SqlStore) -> None:
    begin(embedded)
    live(embedded, "k1", failing(), outcome={"cut_short": True})
    remembering(embedded).catch_up()
    assert [each.topic for each in remembered(embedded)] == ["failure"]


def test_findings_of_other_kinds_are_remembered_by_what_they_are(embedded: SqlStore) -> None:
    begin(embedded)
    fault = Finding(kind="api-fault", title="500 on GET /x", severity="critical", evidence="boom", cause="c1")
    gap = Finding(kind="coverage-gap", title="never run", severity="low", evidence="lines 1-9", file="src/a.py", line=1)
    live(embedded, "k1", fault, gap)
    live(embedded, "k2", fault)
    remembering(embedded).catch_up()
    found = {each.about["kind"]: each for each in remembered(embedded, "finding")}
    assert found["api-fault"].text == "api-fault: 500 on GET /x\nboom"
    assert (found["api-fault"].support, found["coverage-gap"].support) == (2, 1)
    assert found["api-fault"].importance > found["coverage-gap"].importance
    assert "file:src/a.py" in found["coverage-gap"].subjects


def test_what_surprises_and_what_fails_matters_more(embedded: SqlStore) -> None:
    begin(embedded)
    for key, failed in (("dull", None), ("surprising", None), ("failed", "it broke")):
        live(embedded, key, failed=failed)
    embedded.experiences.set_priorities({"dull": 0.0, "surprising": 20.0, "failed": 0.0})
    remembering(embedded).catch_up()
    assert {each.source.partition(":")[2]: each.importance for each in remembered(embedded)} == {
        "dull": 0.2, "surprising": 0.45, "failed": 0.4,
    }  # fmt: skip


def test_secrets_are_masked_before_anything_is_cut(embedded: SqlStore) -> None:
    begin(embedded)
    for place in range(980, 1020):  # around where a long text is cut
        live(embedded, f"k{place}", failing(f"t.py::test_{place}", "x" * place + f" {SECRET} " + "y" * 9000))
    live(embedded, "k", failing(f"t.py::test[{SECRET}]", file=f"{SECRET}.py"), failed=f"token {SECRET}")
    remembering(embedded).catch_up()
    for memory in remembered(embedded):
        told = memory.model_dump_json()
        assert SECRET[4:16] not in told
        assert SECRET[-12:] not in told


@pytest.mark.parametrize("place", range(990, 996))
def test_a_secret_across_the_cut_is_masked_whole(place: int) -> None:
    told = fitting("x" * place + f" {SECRET} " + "y" * 9000)
    assert SECRET[:6] not in told
    assert SECRET[-6:] not in told


def test_nothing_odd_in_a_text_is_too_odd(store: SqlStore) -> None:
    begin(store)
    live(store, "k1", failing("t.py::test_\ud800", "NUL \0, a lone \udfff surrogate, " + "z" * 20_000))
    assert remembering(store).catch_up() == 2
    (memory,) = remembered(store, "failure")
    assert len(memory.text) <= LONGEST_TEXT


# Words.

_STATES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=10), _STATES, max_size=6))
def test_any_state_has_words(state: dict[str, object]) -> None:
    cue = state_cue("agent", state)
    assert cue.startswith("agent=agent")
    assert cue == state_cue("agent", dict(reversed(state.items())))
    assert all("=" in word for word in situation_words(state).split(" ") if word)


def test_states_that_are_nearly_the_same_share_their_words() -> None:
    one, other, far = (set(state_cue("a", {"tests": tests, "ci": ci}).split()) for tests, ci in
                       ((130, False), (200, False), (3, True)))  # fmt: skip
    assert one == other
    assert not one & far - {"agent=a"}


@given(st.text(), st.integers(50, 500))
def test_a_fitting_text_fits(text: str, limit: int) -> None:
    assert 0 < len(fitting(text, limit)) <= limit
    fitting(text, limit).encode()


@given(st.lists(st.text(), max_size=50))
@example(["x" * 300, f"{'k' * 250}:v", "pin=1234 " * 22])
def test_subjects_are_few_short_and_different(names: list[str]) -> None:
    made = subjects(*names)
    assert len(set(made)) == len(made) <= 32
    assert all(0 < len(each) <= 200 for each in made)
