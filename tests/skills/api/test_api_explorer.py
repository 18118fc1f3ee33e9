"""The loop as a whole, on real services: decisions change what is sent, answers change the next decisions."""

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from tests.skills.api.small_service import Answer, Heard, contract, does, exploring, in_query, record, served

from whet.skills.api.explorer import Explorer, Learned
from whet.skills.api.retracing import Seen

STRING = {"type": "string"}
# Twelve like operations; whoever sends a NUL character in `note` finds a fault of each.
NOTES = contract({f"/notes{at}": {"post": does("201", "400", body=record(("note",), note=STRING))} for at in range(12)})


def fragile(heard: Heard) -> Answer:
    note = heard.body.get("note") if isinstance(heard.body, dict) else None
    if not isinstance(note, str):
        return 400, {"detail": "note"}
    return (500, {"error": f"KeyError: in {heard.path}"}) if "\x00" in note else (201, {"id": 1})


def walked(explorer: Explorer, turns: int) -> list[Seen]:
    return list(islice(explorer.turns(), turns))


def faults_found(learned: Learned, seed: int, turns: int = 400) -> int:
    with served(fragile) as small, exploring(NOTES, small, seed, learned) as explorer:
        return sum(one.news.fault for one in walked(explorer, turns))


def test_a_decision_changes_the_behaviour_its_outcome_the_reward_and_the_reward_the_next_decision() -> None:
    """What crashed one operation is sent to the others; each crash is paid once."""
    with served(fragile) as small, exploring(NOTES, small, 1) as explorer:
        seen = walked(explorer, 500)

    paid = [one for one in seen if one.news.fault]
    first = seen.index(paid[0])
    kind = paid[0].exchange.draft.mutation
    assert kind is not None
    # the outcome changed the reward: that crash was paid, and the same crash of the same operation was not
    assert paid[0].news.worth == 1.0
    assert len({one.exchange.operation.id for one in paid}) == len(paid)
    # the reward changed what was believed of the kind
    believed, failed = explorer.sequencing.kinds.kept(), str(paid[0].news.answer)
    best = sorted(believed, key=lambda one: -believed[one].get(failed, 0))[:2]
    assert set(best) == {kind, "failed-elsewhere@body"}
    # and with it what was decided next: that kind, and the very value, were sent to the others at once
    after = Counter(one.exchange.draft.mutation for one in seen[first + 1 : first + 80])
    before = Counter(one.exchange.draft.mutation for one in seen[:first])
    assert after[kind] + after["failed-elsewhere@body"] > 5 * max(1, before[kind])
    assert len(paid) >= 10


def test_learning_finds_more_than_chance_within_the_same_budget() -> None:
    learned = sum(faults_found(Learned(), seed) for seed in (1, 2, 3))
    chance = sum(faults_found(Learned(sequencing=False, kinds=False), seed) for seed in (1, 2, 3))
    assert learned >= 2 * max(1, chance)


def test_every_request_of_a_valid_kind_keeps_the_contract_and_numbers_count_up() -> None:
    with served(fragile) as small, exploring(NOTES, small, 5) as explorer:
        seen = walked(explorer, 80)
    assert [one.exchange.number for one in seen] == list(range(1, 81))
    assert len(small.heard) == 80
    valid = [one.exchange for one in seen if one.exchange.draft.mutation is None]
    assert all(isinstance(json.loads(one.request.body or b"null")["note"], str) for one in valid)


def test_a_failing_answer_names_no_fault_twice() -> None:
    """A service that fails at everything in the same way is one fault for each operation."""
    made = contract({"/a": {"get": does("200", parameters=(in_query("q"),))}, "/b": {"get": does("200")}})
    with served(lambda _: (500, {"error": "boom"})) as small, exploring(made, small) as explorer:
        assert sum(one.news.fault for one in walked(explorer, 60)) == 2


_REPEATED = """
import json, sys
from itertools import islice
from tests.skills.api.small_service import exploring, served
from tests.skills.api.test_api_explorer import NOTES, fragile
with served(fragile) as small, exploring(NOTES, small, int(sys.argv[1])) as explorer:
    turns = list(islice(explorer.turns(), 150))
print(json.dumps([f"{one.method} {one.path} {one.raw!r} {sorted(one.query.items())}" for one in small.heard]))
"""


def requests_of(seed: int, hash_seed: str) -> list[str]:
    root = Path(__file__).resolve().parents[3]
    ran = subprocess.run(
        [sys.executable, "-c", _REPEATED, str(seed)], cwd=root, check=True, capture_output=True, text=True,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)},
    )  # fmt: skip
    heard: list[str] = json.loads(ran.stdout)
    return heard


def test_the_same_seed_sends_the_same_requests_in_the_same_order() -> None:
    """In another process too, where sets have another order."""
    first = requests_of(7, "1")
    assert first == requests_of(7, "2")
    assert first != requests_of(8, "1")


@pytest.mark.parametrize("part", ["dependencies", "evidence", "sources", "sequencing", "kinds"])
def test_each_part_can_be_told_not_to_learn(part: str) -> None:
    with served(fragile) as small, exploring(NOTES, small, 0, Learned(**{part: False})) as explorer:
        assert len(walked(explorer, 40)) == 40
