"""Training: a known world is learned, and whoever dies on the way ends at the same weights."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from tests.improvement.test_evaluation import PROFILE, STATE, caught, world

from whet.agents.catalogue import agent_named
from whet.core.errors import WhetError
from whet.core.records import ActionKind, Decision, Experience, Reward
from whet.improvement.environment import WorldEnvironment
from whet.improvement.training import Progress
from whet.improvement.training import train as training
from whet.improvement.training_learners import open_learner
from whet.improvement.training_record import Order, TrainingFolder
from whet.improvement.training_scenes import of_history, of_worlds
from whet.improvement.training_subject import subject_of

SCENES = of_worlds([world()], PROFILE, {})
RISK = agent_named("regression-risk-analyzer")


def order(policy: str, **changes: Any) -> Order:
    fields = {"agent": RISK.name, "policy": policy, "seed": 5, "steps": 1536, "checkpoint_steps": 512}
    told = {"source": "world", "sources": SCENES.sources, "digest": SCENES.digest}
    return Order.model_validate(fields | told | changes)


def train(order: Order, folder: TrainingFolder, *, resume: bool = False) -> Generator[Progress, None, None]:
    return training(subject_of(SCENES, order), order, folder, resume=resume)


def weights(folder: TrainingFolder) -> dict[str, Any]:
    (found,) = folder.learner.glob("save.*/tensors.safetensors")
    return load_file(found)


def learner_config(folder: TrainingFolder, policy: Any) -> Any:
    return open_learner(policy, folder.learner).config  # type: ignore[attr-defined]  # DQN and PPO have one


@pytest.mark.parametrize("policy", ["dqn", "ppo"])
def test_it_learns_what_pays_in_each_state_and_resumes_to_the_same_weights(policy: str, tmp_path: Path) -> None:
    whole, broken = TrainingFolder(tmp_path / "whole"), TrainingFolder(tmp_path / "broken")
    told = [progress.steps for progress in train(order(policy), whole)]
    assert told[-1] == 1536
    assert told == sorted(set(told))

    begun = train(order(policy), broken)
    while next(begun).steps < 1200:  # into the third chapter, after the second was saved
        pass
    begun.close()
    resumed = train(order(policy), broken, resume=True)
    assert next(resumed).steps > 1024
    list(resumed)
    assert all(np.array_equal(weights(whole)[name], array) for name, array in weights(broken).items())
    assert broken.rows() == whole.rows()
    assert learner_config(whole, policy).discount == 0.95
    if policy == "dqn":
        assert whole.rows()[-1]["beta"] == pytest.approx(1.0, abs=0.01)  # however short the training is

    learner = open_learner(order(policy).policy, whole.learner)
    environment = WorldEnvironment(SCENES)
    rows, masks = np.stack(environment._rows), np.stack(environment._masks)
    best = [RISK.actions[place].name for place in learner.values(rows, masks).argmax(axis=1)]
    assert best[0] in ("assess_by_coverage", "assess_combined")  # 30 and 29 points, against 15
    assert best[1] == "assess_by_churn"
    assert list(whole.tensorboard.glob("events.out.tfevents.*"))


@pytest.mark.parametrize("policy", ["dqn", "ppo"])
def test_networks_are_trained_where_the_order_says(policy: str) -> None:
    learner: Any = subject_of(SCENES, order(policy, device="auto")).new()
    assert learner.config.device == "auto"


def test_a_training_does_not_go_on_with_something_else(tmp_path: Path) -> None:
    folder = TrainingFolder(tmp_path)
    list(train(order("ppo", steps=256), folder))
    with pytest.raises(WhetError, match=": seed, digest changed"):
        list(train(order("ppo", steps=512, seed=6, digest="other"), folder, resume=True))
    with pytest.raises(WhetError, match="Leave out --resume"):
        list(train(order("ppo"), TrainingFolder(tmp_path / "nothing"), resume=True))


def test_it_may_be_made_longer(tmp_path: Path) -> None:
    folder = TrainingFolder(tmp_path)
    list(train(order("ppo", steps=512), folder))
    assert [progress.steps for progress in train(order("ppo", steps=1024), folder, resume=True)][-1] == 1024
    assert folder.order().steps == 1024


def test_an_earlier_training_is_in_use_until_the_new_one_is_done_and_leaves_nothing(tmp_path: Path) -> None:
    folder = TrainingFolder(tmp_path)
    list(train(order("ppo", steps=512), folder))
    before = weights(folder)
    anew = train(order("ppo", steps=1024, seed=6), folder)
    while next(anew).steps <= 512:  # the first of two chapters is saved
        pass
    assert all(np.array_equal(weights(folder)[name], array) for name, array in before.items())
    list(anew)
    assert not np.array_equal(weights(folder)["actor.0.weight"], before["actor.0.weight"])
    assert [row["step"] for row in folder.rows()].count(512) == 1
    assert len(list(folder.tensorboard.glob("events.*"))) == 1


def test_a_last_line_that_was_cut_is_dropped(tmp_path: Path) -> None:
    folder = TrainingFolder(tmp_path)
    list(train(order("ppo", steps=256), folder))
    rows = folder.rows()
    with (tmp_path / "measures.jsonl").open("a") as file:
        file.write('{"step": 264, "episo')
    list(train(order("ppo", steps=256), folder, resume=True))
    assert folder.rows() == rows


def experience(action: str, earned: float, **changes: Any) -> Experience:
    decision = Decision(
        run_id="r", agent=RISK.name, state_key="k", proposed=action, action=action, probability=1.0, confidence=None,
        explored=False, policy="p", policy_version="1", decided_by="policy", alternatives=(),
    )  # fmt: skip
    fields: dict[str, Any] = {
        "key": f"r:{decision.id}", "run_id": "r", "agent": RISK.name, "category": "c", "decision": decision,
        "kind": ActionKind.FOCUSED, "state": STATE, "state_key": "k", "category_key": "c", "fleet_key": "f",
        "outcome": caught(1.0), "next_state_key": "k", "done": True,
        "reward": Reward(profile="p", parts=(), raw=earned + 1, shaped=earned, credited=earned),
    }  # fmt: skip
    return Experience.model_validate(fields | changes)


def test_history_is_only_what_was_measured() -> None:
    cut = experience("assess_by_churn", -50.0, outcome={**caught(0.0), "cut_short": True})
    found = of_history(RISK, [experience("assess_by_diff", 3.0), experience("assess_by_diff", 5.0), cut])
    (scene,) = found.scenes
    assert {name: [(d.credited, d.raw, d.next_scene) for d in draws] for name, draws in scene.draws.items()} == {
        "assess_by_diff": [(3.0, 4.0, None), (5.0, 6.0, None)]
    }
    assert found.sources == ("2 experiences",)
    with pytest.raises(WhetError, match="whet run"):
        of_history(RISK, [cut])


def test_history_of_turns_that_follow_one_another_is_a_chain() -> None:
    later = {**STATE, "changed_files": 2}
    first = experience("assess_by_diff", 1.0, done=False, next_state_key="later")
    second = experience("assess_by_churn", 2.0, state=later, state_key="later", next_state_key="k")
    found = of_history(RISK, [first, second])
    assert [[d.next_scene for draws in s.draws.values() for d in draws] for s in found.scenes] == [[1], [None]]
