"""Tables of candidates: each experience counted once, old tasks kept, and the same bytes whenever it is asked again."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.forgetting import WAYS
from benchmarks.forgetting_worlds import forgetting
from benchmarks.lived import Living, worth
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.improvement.test_training import RISK, experience

from whet.core.errors import RefusedInput
from whet.core.ports import Cell, Scope
from whet.core.records import Experience
from whet.improvement.candidate_training import CandidateOrder, train
from whet.improvement.candidate_training_tables import LEARNED
from whet.improvement.world import shipped
from whet.policies import snapshot
from whet.policies.frozen import Frozen, opened_policy
from whet.policies.tabular import TabularPolicy, Thompson

EXECUTOR = next(world for world in shipped() if world.name == "shop/test-executor")


def order(**changes: Any) -> CandidateOrder:
    return CandidateOrder.model_validate({"agent": RISK.name, "kind": "tables", "seed": 1} | changes)


def lived(number: int, earned: float = 1.0, **changes: Any) -> Experience:
    told = {"key": f"r:{number}", "state_key": f"s{number % 3}", "category_key": f"c{number % 2}"}
    return experience("assess_by_diff", earned, **(told | changes))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def own(folder: Path) -> dict[Cell, Any]:
    return snapshot.opened(folder, RISK.name).rows(Scope.INDIVIDUAL, RISK.name)


def policy_in(folder: Path, life: Living) -> Frozen:
    agent = life.agent
    return opened_policy("tables", folder, agent, "candidate-7", "ab" * 32, 0.1, np.random.default_rng(3))


def test_from_a_whole_log_it_knows_exactly_what_the_live_tables_know(tmp_path: Path) -> None:
    life = Living(EXECUTOR, 1)
    told = train(order(agent=EXECUTOR.agent), life.live(120), [], None, tmp_path / "c")
    found = snapshot.opened(tmp_path / "c", EXECUTOR.agent)
    assert found.owners() == life.tables.owners()
    assert all(found.rows(*owner) == life.tables.rows(*owner) for owner in found.owners())
    assert told.metrics["experiences"] == told.metrics["learned_from"] == 120
    assert told.rows[-1]["step"] == 120


def test_asked_again_it_writes_the_same_bytes_whatever_was_left(tmp_path: Path) -> None:
    batch, before = [lived(n, n / 7) for n in range(20)], [lived(n, n / 3) for n in range(100, 130)]
    train(order(), batch, before, None, tmp_path / "one")
    (tmp_path / ".two.part").mkdir()
    (tmp_path / ".two.part" / "half").write_text("written when it died")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "old").write_text("of another candidate")
    train(order(), batch, before, None, tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert sorted(files(tmp_path / "one")) == [LEARNED, snapshot.FILE]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(-50, 50), min_size=8, max_size=20),
    st.lists(st.integers(3, 7), min_size=1, max_size=3),
    st.integers(0, 9),
    st.just([True] * 3) | st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_each_experience_counts_once_however_they_come(
    tmp_path_factory: pytest.TempPathFactory, earned: list[float], cuts: list[int], window: int, goes_on: list[bool]
) -> None:
    """Batches of any size, any part of them still at hand, with candidates in between that were not gone on from."""
    place, seen = tmp_path_factory.mktemp("c"), list[Experience]()
    everything, parent = [lived(n, value) for n, value in enumerate(earned)], None
    parts = [part for part in np.split(np.arange(len(everything)), sorted(cuts)) if len(part)]
    for number, part in enumerate(parts):
        batch, out = [everything[n] for n in part], place / str(number)
        at_hand = seen[-window:] if window and all(goes_on) else seen
        train(order(), batch, at_hand, parent, out)
        seen += batch
        parent = out if goes_on[number % 3] or parent is None else parent
    counts = Counter(each.state_key for each in everything)
    assert {c.state_key: e.visits for c, e in own(out).items() if c.state_key in counts} == counts
    for cell, entry in own(out).items():
        if cell.state_key in counts:
            mean = np.mean([e.reward.credited for e in everything if e.state_key == cell.state_key])
            assert entry.mean == pytest.approx(mean, abs=1e-9)


def chain(n: int) -> list[Experience]:
    """s0 earns 1 and leads to s1, which earns 10 and ends; and a step that leads back to itself and earns 1."""
    to: dict[str, Any] = {"next_category_key": "c0", "next_fleet_key": "f", "next_actions": ("assess_by_diff",)}
    return [
        lived(0, 1.0, key=f"{n}:0", state_key="s0", done=False, next_state_key="s1", **to),
        lived(1, 10.0, key=f"{n}:1", state_key="s1"),
        lived(2, 1.0, key=f"{n}:2", state_key="loop", done=False, next_state_key="loop", **to),
    ]


def test_decisions_are_credited_with_what_follows_until_values_settle(tmp_path: Path) -> None:
    told = train(order(), chain(0), [], None, tmp_path / "c")
    values = {cell.state_key: entry.q_value for cell, entry in own(tmp_path / "c").items()}
    assert values["s1"] == 10.0
    assert values["s0"] == pytest.approx(1 + 0.95 * 10)
    assert values["loop"] == pytest.approx(1 / (1 - 0.95), abs=0.2)  # 0.01 short of a step, by a discount of 0.95
    assert told.metrics["last_change"] <= 0.01


def test_where_everything_is_at_hand_old_decisions_are_credited_with_what_is_known_now(tmp_path: Path) -> None:
    first, later = chain(0)[:2], [lived(1, 30.0, key="later", state_key="s1")]
    train(order(), first, [], None, tmp_path / "a")
    train(order(), later, first, tmp_path / "a", tmp_path / "b")
    values = {cell.state_key: entry.mean for cell, entry in own(tmp_path / "b").items()}
    assert values["s1"] == 20.0
    assert values["s0"] == pytest.approx(1 + 0.95 * 20)
    train(order(), later, [], tmp_path / "a", tmp_path / "gone")  # what it was then is all that is left of it
    assert {c.state_key: e.mean for c, e in own(tmp_path / "gone").items()}["s0"] == pytest.approx(1 + 0.95 * 10)


def test_what_teaches_nothing_is_left_out_and_what_cannot_be_is_said(tmp_path: Path) -> None:
    cut = lived(1, -50.0, outcome={"duration_seconds": 1.0, "failed": None, "cut_short": True})
    train(order(), [lived(0), cut], [cut], None, tmp_path / "c")
    assert {cell.state_key for cell in own(tmp_path / "c")} == {"s0", "c0"}
    refused: Sequence[tuple[dict[str, Any], list[Experience], str]] = [
        ({}, [cut], "nothing to train"),
        ({}, [lived(0, agent="test-executor")], "is an experience of test-executor"),
        ({"kind": "ppo"}, [lived(0)], "Choose tables or dqn"),
    ]
    for changes, batch, problem in refused:
        with pytest.raises(RefusedInput, match=problem):
            train(order(**changes), batch, [], None, tmp_path / "d")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c"]


def test_a_parent_that_does_not_say_what_it_learned_from_is_refused(tmp_path: Path) -> None:
    train(order(), [lived(0)], [], None, tmp_path / "c")
    for damage in (b"", b"\x80\x04N.", (tmp_path / "c" / LEARNED).read_bytes()[:-3]):
        (tmp_path / "c" / LEARNED).write_bytes(damage)
        with pytest.raises(RefusedInput, match=r"learned\.npy"):
            train(order(), [lived(1)], [], tmp_path / "c", tmp_path / "d")


def test_old_worlds_are_forgotten_without_the_parent_and_replay_and_kept_by_either() -> None:
    told = forgetting("tables", 1, WAYS, decisions=150)
    assert told["neither"][0] < 0.5
    assert all(told[way][0] >= 0.9 for way in WAYS if way != "neither")
    assert all(last > 0.9 for _, last in told.values())


def test_a_candidate_explores_less_than_the_tables_that_logged_it_and_earns_more(tmp_path: Path) -> None:
    life = Living(EXECUTOR, 2)
    train(order(agent=EXECUTOR.agent), life.live(60), [], None, tmp_path / "c")
    candidate, stopped = worth(policy_in(tmp_path / "c", life), life.there), worth(life.policy, life.there)
    assert candidate[0] > stopped[0] + 0.05
    assert candidate[1] > stopped[1]


def test_it_answers_under_its_name_the_same_whatever_is_learned_meanwhile(tmp_path: Path) -> None:
    life = Living(EXECUTOR, 3)
    train(order(agent=EXECUTOR.agent), life.live(60), [], None, tmp_path / "c")
    policy, spot = policy_in(tmp_path / "c", life), life.there[0]
    before = policy.choose(spot.state, spot.allowed)
    life.live(60)
    after = policy.choose(spot.state, spot.allowed)
    assert policy.name == "candidate-7"
    assert before.version == after.version == "candidate-7-abababababab"
    assert before.alternatives == after.alternatives
    assert sum(each.probability for each in before.alternatives) == pytest.approx(1.0)
    as_thompson = TabularPolicy(policy.policy.hierarchy, Thompson(), 0.1, np.random.default_rng(0))  # type: ignore[attr-defined]
    told = as_thompson.choose(spot.state, spot.allowed).alternatives
    assert [each.confidence for each in told] == [each.confidence for each in before.alternatives]
    assert max(each.probability for each in told) < max(each.probability for each in before.alternatives)
