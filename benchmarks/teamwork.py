"""Do messages and credit beat independent learning? `python benchmarks/teamwork.py [--json OUT]`.

Two games of two agents whose best possible reward is known.
*Signals*: each agent sees one of four signs and must do what the *other's* sign says: worth 1 from the first, 9 from
the second, and 2 more if both do. At best 12; without messages 3, when both hope that their signs are the same.
*Climbing* (Claus and Boutilier, 1998): nothing to see, 11 for the best pair of actions, −30 beside it. At best 11.
Told is the mean reward of the best actions when learning is over, and of those drawn all along, with 95 % intervals
over the seeds.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from whet.improvement.evaluation import student_95
from whet.policies.deep.credit import Credits, Present, difference_credits, shapley_credits
from whet.policies.deep.learning import Floats, Whole
from whet.policies.deep.teamwork import Team, TeamConfig

SIGNS, STAKES = 4, np.array([1.0, 9.0])
PAYS = np.array([[11, -30, 0], [-30, 7, 6], [0, 0, 5]], dtype=np.float64)


class Game(NamedTuple):
    actions: int
    width: int
    optimum: float
    see: Callable[[np.random.Generator, int], Floats]
    reward: Callable[[Floats, Whole], Credits]  # of observations and actions, one per row
    rounds: int
    default: int
    scale: float  # rewards are divided by it to learn


def _signs(random: np.random.Generator, rows: int) -> Floats:
    return np.eye(SIGNS, dtype=np.float32)[random.integers(0, SIGNS, (rows, 2))]


def _nothing(_: np.random.Generator, rows: int) -> Floats:
    return np.ones((rows, 2, 1), dtype=np.float32)


def _signal_reward(seen: Floats, actions: Whole) -> Credits:
    right = actions == seen.argmax(axis=-1)[:, ::-1]
    return np.asarray(right @ STAKES + 2.0 * right.all(axis=1))


def _climbing_reward(_: Floats, actions: Whole) -> Credits:
    return np.asarray(PAYS[actions[:, 0], actions[:, 1]])


GAMES = {
    "signals": Game(SIGNS, SIGNS, 12.0, _signs, _signal_reward, 300, 0, 4.0),
    "climbing": Game(3, 1, 11.0, _nothing, _climbing_reward, 300, 2, 10.0),
}
WAYS = {"independent": (0, "team"), "credit": (0, "difference"), "messages": (8, "team"),
        "messages + difference": (8, "difference"), "messages + Shapley": (8, "shapley")}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    told: dict[str, Any] = {"seeds": arguments.seeds, "games": {}}
    for name, game in GAMES.items():
        print(f"\n{name}, at best {game.optimum:g} {'in the end':>33} {'all along':>18}")
        told["games"][name] = {"optimum": game.optimum, "ways": {}}
        for way, (message, credit) in WAYS.items():
            lives = np.array([life(game, message, credit, seed) for seed in range(arguments.seeds)])
            figures = {"end": interval(lives[:, 0]), "all": interval(lives[:, 1])}
            told["games"][name]["ways"][way] = figures
            print(f"{way:32}", *(f"{mean:9.2f} ± {half:.2f}".rjust(18) for mean, half in figures.values()), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(told, indent=2) + "\n")


def life(game: Game, message: int, credit: str, seed: int) -> tuple[float, float]:
    """The mean reward of the best actions in the end, and of those that were drawn all along."""
    team = Team(TeamConfig(agents=2, width=game.width, actions=game.actions, message=message), seed)
    random, earned = np.random.default_rng([seed, 1]), []
    for _ in range(game.rounds):
        seen = game.see(random, team.config.batch)
        actions = team.act(seen)
        rewards = game.reward(seen, actions)
        team.learn(seen, actions, _credits(game, credit, seen, actions, rewards, random) / game.scale)
        earned.append(rewards.mean())
    seen = game.see(random, 500)
    return float(game.reward(seen, team.best(seen)).mean()), float(np.mean(earned))


def _credits(
    game: Game, credit: str, seen: Floats, actions: Whole, rewards: Credits, random: np.random.Generator
) -> Credits:
    """Whoever does not take part does its default."""
    if credit == "team":
        return np.repeat(rewards[:, None], 2, axis=1)

    def worth(present: Present) -> Credits:
        return game.reward(seen, np.where(present, actions, game.default))

    return difference_credits(2, worth) if credit == "difference" else shapley_credits(2, worth, 2, random)


def interval(values: Any) -> tuple[float, float]:
    half = student_95(len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean()), float(half)


if __name__ == "__main__":
    main()
