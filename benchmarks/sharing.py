"""Does an agent learn sooner from others' experiences? `python benchmarks/sharing.py [--json OUT]`.

A contextual bandit of known values: 8 states, 5 actions, one of which pays 1 in each state and the others 0, with
noise. A new agent (DQN) makes its first decisions alone, beside an agent that has learned the same, and beside one
whose actions pay differently. Told is the share of states in which its best action is the right one, and the
decisions until that is 90 %.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from whet.improvement.evaluation import Matrix, student_95
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_config import Config, Network
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import Flags, Floats, Steps, Whole
from whet.policies.deep.sharing import Borrowed, Shared, Trust, expected, greedy_policy, joined_steps, rows_of

STATES, ACTIONS, NOISE = 8, 5, 0.3
EXTRA = 24  # rows that are borrowed, or its own once more, after each eight decisions
COMPANY = ("alone", "related", "unrelated", "unrelated, trusted blindly", "both")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--decisions", type=int, default=160)
    parser.add_argument("--first-seed", type=int, default=100, help="the choices here were made with those below 100")
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    torch.set_num_threads(1)
    curves = {company: np.array([curve(company, seed, arguments.decisions) for seed in seeds]) for company in COMPANY}
    told = {company: summary(found, curves["alone"]) for company, found in curves.items()}
    print(f"{'company':28} {'right':>8} {'against alone':>18} {'decisions to 90 %':>18}")
    for company, figures in told.items():
        gain = f"{figures['gain']:+.1%} ± {figures['half_width']:.1%}"
        print(f"{company:28} {figures['right']:8.1%} {gain:>18} {figures['decisions_to_90'] or 'never':>18}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"seeds": arguments.seeds, "company": told}, indent=2) + "\n")


def curve(company: str, seed: int, decisions: int, practice: int = 300) -> list[float]:
    """The share of states it has right after each eight decisions of its own."""
    right_actions = np.random.default_rng(seed).integers(0, ACTIONS, STATES)
    kinds = {"alone": (), "both": ("related", "unrelated")}.get(company, (company.split(",")[0],))
    shared, lenders = Shared(2_000, seed), {}
    for kind in kinds:
        pays = right_actions if kind == "related" else (right_actions + 1 + np.arange(STATES) % 2) % ACTIONS
        lenders[kind] = _taught(np.asarray(pays), shared, kind, practice, seed)
    return _life(right_actions, shared, lenders, decisions, seed, blind="blindly" in company)


def _life(
    pays: Whole, shared: Shared, lenders: dict[str, DQN], decisions: int, seed: int, *, blind: bool
) -> list[float]:
    learner = DQN(config(), seed)
    random, trust, told = np.random.default_rng([seed, 2]), Trust(), list[float]()
    for _ in range(decisions // 8):
        lived = _lived(learner, pays, random)
        place = (lived.observations, lived.masks, lived.actions)
        foretold = {name: expected(lender, *place) for name, lender in lenders.items()}
        trust.observe(lived.rewards, expected(learner, *place), foretold)
        learner.learn(lived)
        believed = dict.fromkeys(lenders, 1.0) if blind else trust.of(tuple(lenders))
        borrowed = shared.borrow("new", EXTRA, greedy_policy(learner, 0.5), believed)
        learner.learn(_filled(borrowed, lived))
        told.append(_right(learner, pays))
    return told


def _filled(borrowed: Borrowed | None, lived: Steps) -> Steps:
    """With its own once more where little was borrowed, so that every company has equally many updates."""
    again = joined_steps([lived] * (EXTRA // len(lived.actions)))
    if borrowed is None:
        return again
    missing = EXTRA - len(borrowed.steps.actions)
    return joined_steps([borrowed.steps, rows_of(again, np.arange(missing))])


def _taught(pays: Whole, shared: Shared, name: str, decisions: int, seed: int) -> DQN:
    learner, random = DQN(config(), seed + 1000), np.random.default_rng([seed, 1])
    for _ in range(decisions // 8):
        lived = _lived(learner, pays, random)
        learner.learn(lived)
        shared.lend(name, lived)
    return learner


def _lived(learner: DQN, pays: Whole, random: np.random.Generator, rows: int = 8) -> Steps:
    states = random.integers(0, STATES, rows)
    seen, masks = np.eye(STATES, dtype=np.float32)[states], np.ones((rows, ACTIONS), dtype=bool)
    acts = learner.act(seen, masks)
    rewards = (acts.actions == pays[states]) + random.normal(0.0, NOISE, rows)
    ended = np.ones(rows, dtype=bool)
    return Steps(seen, masks, acts.actions, acts.probabilities, rewards.astype(np.float32), seen, masks, ended, ~ended)


def _right(learner: DQN, pays: Whole) -> float:
    seen: Floats = np.eye(STATES, dtype=np.float32)
    masks: Flags = np.ones((STATES, ACTIONS), dtype=bool)
    return float((learner.values(seen, masks).argmax(axis=1) == pays).mean())


def config() -> Config:
    return Config(
        layout=Layout(tokens=1, width=STATES), actions=tuple("abcde"),
        network=Network(encoder=(32, 32), stream=16, heads=1),
        learning_rate=3e-3, restart_updates=0, batch=32, warm_up_steps=8, steps_per_round=2, capacity=4_000,
        epsilon=0.5, epsilon_decay=1.0, target_rate=0.05, device="cpu",
    )  # fmt: skip


def summary(curves: Matrix, alone: Matrix) -> dict[str, Any]:
    """Over all decisions, seed by seed against being alone, and when the mean of the seeds first reaches 90 %."""
    gains, mean = (curves - alone).mean(axis=1), curves.mean(axis=0)
    reached = np.flatnonzero(mean >= 0.9)
    return {
        "right": float(curves.mean()),
        "gain": float(gains.mean()),
        "half_width": float(student_95(len(gains) - 1) * gains.std(ddof=1) / np.sqrt(len(gains))),
        "decisions_to_90": int(reached[0] + 1) * 8 if len(reached) else None,
        "curve": [float(x) for x in mean],
    }


if __name__ == "__main__":
    main()
