"""What one run leaves to the next, through a real store."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.skills.api.small_service import (
    Answer,
    Heard,
    Small,
    contract,
    does,
    exploring,
    in_path,
    operation,
    record,
    served,
    told,
)  # fmt: skip

from whet.skills.api import knowledge as memory
from whet.skills.api.contract.reading import read_contract
from whet.skills.api.explorer import Explorer
from whet.skills.api.faults import Fault, Kind, Suspicion
from whet.skills.api.learning import kept
from whet.store import open_store

CONTRACT = contract({
    "/things": {"post": does("201", "422", body=record(("code",), code={"type": "string", "pattern": "^[a-z]{1,9}$"}))},
    "/things/{id}": {"get": does("200", "404", parameters=(in_path("id"),))},
    "/untried/{id}": {"get": does("200", parameters=(in_path("id"),))},
})  # fmt: skip
POST = operation(CONTRACT, "POST /things")
FAULT = Fault(
    Suspicion(Kind.SERVER_ERROR, POST.id, "server-error | POST /things | boom", "fails", "KeyError"),
    (told(POST, 201, {"id": 1}), told(POST, 500, {"error": "boom"}, body={"code": "\ud800"}, media="application/json")),
    confirmed=True,
    seen=3,
)


def things(heard: Heard) -> Answer:
    if heard.method == "POST":
        return (
            (201, {"id": 4711})
            if isinstance(heard.body, dict) and heard.body.get("code")
            else (422, {"detail": "code"})
        )
    return (200, {"id": 4711}) if heard.path == "/things/4711" else (404, {"detail": "no such thing"})


@pytest.fixture
def small() -> Iterator[Small]:
    with served(things) as running:
        yield running


def explored(small: Small, turns: int, knowledge: memory.Knowledge | None = None, seed: int = 3) -> Explorer:
    with exploring(CONTRACT, small, seed) as explorer:
        if knowledge is not None:
            memory.teach(explorer, knowledge, CONTRACT)
        walk = explorer.turns()
        for _ in range(turns):
            next(walk)
        return explorer


def test_everything_learned_comes_back_from_the_store_and_fades(small: Small, tmp_path: Path) -> None:
    before = explored(small, 80)
    learned = memory.learned(before, memory.Knowledge(runs=4), CONTRACT, [FAULT])
    store = open_store(f"sqlite:///{tmp_path / 'whet.db'}")
    store.knowledge.update("small", lambda _: memory.written(learned))
    back = memory.read(store.knowledge.load("small"))
    store.close()
    after = explored(small, 0, back)

    assert back.runs == 5
    assert after.novelty.statuses() == before.novelty.statuses() != {}
    assert after.sequencing.tried() == {
        one: {kind: min(3, times) for kind, times in kinds.items()} for one, kinds in before.sequencing.tried().items()
    }
    assert read_contract(back.document or {}).operations == CONTRACT.operations
    assert memory.remembered_faults(back, CONTRACT)[0].suspicion == FAULT.suspicion
    assert memory.remembered_faults(back, CONTRACT)[0].steps[1].draft == FAULT.steps[1].draft
    for name, table in before.tables().items():
        strong = {key: seen for key, seen in table.seen.items() if sum(seen) >= 1}
        for key, (won, lost) in strong.items():
            assert after.tables()[name].seen[key] == pytest.approx((kept.FADING * won, kept.FADING * lost), abs=0.01)
    assert before.tables()["sources"].seen
    assert after.drafting.known.keys() == before.drafting.worked.keys()
    assert after.sequencing.kinds.kept().keys() == before.sequencing.kinds.kept().keys()


def test_the_second_run_reaches_at_once_what_the_first_had_to_find(tmp_path: Path) -> None:
    def picky(heard: Heard) -> Answer:
        """Takes one word only, which is an example in no contract."""
        right = isinstance(heard.body, dict) and heard.body.get("colour") == "green" and "note" in heard.body
        return (201, {"id": 1}) if right else (422, {"detail": "refused"})

    colours = {"type": "string", "enum": ["red", "blue", "black", "white", "pink", "grey", "green", "gold"]}
    made = contract({"/paints": {"post": does("201", "422", body=record(
        ("colour",), colour=colours, note={"type": "string"}, size={"type": "integer"}, kind={"type": "string"},
    ))}})  # fmt: skip

    def first_success(small: Small, knowledge: memory.Knowledge, seed: int) -> tuple[int, Explorer]:
        with exploring(made, small, seed) as explorer:
            memory.teach(explorer, knowledge, made)
            valid = (seen.exchange.draft.mutation is None and seen.exchange.ok for seen in explorer.turns())
            return next(at for at, worked in enumerate(valid, 1) if worked), explorer

    with served(picky) as small:
        firsts, seconds = [], []
        for seed in range(4):
            first, explorer = first_success(small, memory.Knowledge(), seed)
            known = memory.read(memory.written(memory.learned(explorer, memory.Knowledge(), made, [])))
            firsts.append(first)
            seconds.append(first_success(small, known, seed + 100)[0])

    assert sum(seconds) * 2 < sum(firsts)


@pytest.mark.parametrize("text", [None, '{"format": 99, "runs": 3}', '{"runs": 3}'])
def test_nothing_or_an_unknown_format_is_a_first_run(text: str | None) -> None:
    assert memory.read(text) == memory.Knowledge()


def test_what_the_contract_no_longer_has_is_left_out(small: Small) -> None:
    known = memory.read(memory.written(memory.learned(explored(small, 60), memory.Knowledge(), CONTRACT, [FAULT])))
    other = contract({"/others": {"get": does("200")}})
    with exploring(other, small) as explorer:
        memory.teach(explorer, known, other)
        assert next(explorer.turns()).exchange.operation.id == "GET /others"
        assert explorer.drafting.known == {}
    assert memory.remembered_faults(known, other) == []


@pytest.mark.parametrize("word", ["true", "null", "draft", "server-error", "observed", "operation", "beliefs", "4711"])
def test_hiding_any_word_leaves_something_that_can_be_read(small: Small, word: str) -> None:
    """Whatever was given as a secret is hidden; the next run must start all the same."""
    learned = memory.learned(explored(small, 60), memory.Knowledge(), CONTRACT, [FAULT])
    text = memory.written(learned, lambda value: value.replace(word, "***"))
    known = memory.read(text)
    memory.remembered_faults(known, CONTRACT)
    with exploring(CONTRACT, small) as explorer:
        memory.teach(explorer, known, CONTRACT)
        next(explorer.turns())


def test_a_secret_in_the_bytes_of_an_answer_is_hidden() -> None:
    fault = Fault(FAULT.suspicion, (told(POST, 500, {"echo": "s3cret-token", "rest": "x" * 13}),), True)
    with served(things) as small, exploring(CONTRACT, small) as explorer:
        learned = memory.learned(explorer, memory.Knowledge(), CONTRACT, [fault])
    text = memory.written(learned, lambda value: value.replace("s3cret-token", "***"))
    back = memory.remembered_faults(memory.read(text), CONTRACT)[0].steps[0].response.body

    assert json.loads(back) == {"echo": "***", "rest": "x" * 13}
