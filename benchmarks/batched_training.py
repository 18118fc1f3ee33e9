"""Does training 24 agents as one computation pay? `python benchmarks/batched_training.py [--json OUT]`.

One update each of 24 dueling networks as Whet's agents have them: values of the next states by both networks, loss,
gradient, clipping, Adam, soft target. Three ways to the same numbers take turns in one run: one after the other,
`torch.func.vmap`, and the hand-written products of `whet.policies.deep.batched`. On one thread, in milliseconds of the
processor, so that others who use the machine do not count.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from whet.policies.deep.batched import Together
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_config import Config, Network
from whet.policies.deep.dqn_targets import weighted_loss
from whet.policies.deep.layout import Layout

WAYS = ("sequential", "vmap", "batched")
LAYOUTS = {"one token": Layout(tokens=1, width=64), "four tokens": Layout(tokens=4, width=16)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--agents", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--batches", type=int, nargs="+", default=[32, 64, 128, 256, 512])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    figures: dict[str, Any] = {"agents": arguments.agents, "rounds": arguments.rounds, "layouts": {}}
    for name, layout in LAYOUTS.items():
        told = {b: _measured(layout, arguments.agents, b, arguments.rounds) for b in arguments.batches}
        figures["layouts"][name] = told
        _show(name, arguments.agents, told)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


def _measured(layout: Layout, agents: int, batch: int, rounds: int) -> dict[str, Any]:
    """Milliseconds for all agents, the median of the rounds; a ratio is the median of the rounds' own ratios."""
    items, weights = _items(layout, agents, batch)
    ways = {name: _way(name, layout, agents, batch) for name in WAYS}
    seconds: dict[str, list[float]] = {name: [] for name in WAYS}
    for number in range(rounds + 1):
        for name in WAYS if number % 2 else WAYS[::-1]:
            started = time.process_time()
            ways[name](items, weights)
            if number:  # the first round warms up
                seconds[name].append(time.process_time() - started)
    ratios = {
        name: median(mine / alone for mine, alone in zip(seconds[name], seconds["sequential"], strict=True))
        for name in WAYS
    }
    return {"milliseconds": {name: 1e3 * median(times) for name, times in seconds.items()}, "of_sequential": ratios}


def _items(layout: Layout, agents: int, batch: int) -> tuple[dict[str, Tensor], Tensor]:
    random = torch.Generator().manual_seed(1)
    rows = (agents, batch)
    return {
        "observation": torch.randn(*rows, layout.size, generator=random),
        "action": torch.randint(0, 8, rows, generator=random),
        "reward": torch.randn(rows, generator=random),
        "discount": torch.full(rows, 0.99),
        "next_observation": torch.randn(*rows, layout.size, generator=random),
        "next_mask": torch.ones(*rows, 8, dtype=torch.bool),
        "counts": torch.ones(*rows, Network().heads, dtype=torch.uint8),
    }, torch.rand(rows, generator=random)


def _way(name: str, layout: Layout, agents: int, batch: int) -> Callable[[dict[str, Tensor], Tensor], Any]:
    config = Config(layout=layout, actions=tuple("abcdefgh"), batch=batch, capacity=1, device="cpu")
    learners = [DQN(config, seed) for seed in range(agents)]
    if name == "sequential":
        return lambda items, weights: _one_after_the_other(learners, items, weights)
    return (ByVmap if name == "vmap" else Together)(learners).update


def _one_after_the_other(learners: list[DQN], items: dict[str, Tensor], weights: Tensor) -> None:
    """What `DQN` does, without its replay, which every way needs alike."""
    for place, learner in enumerate(learners):
        batch = {name: column[place] for name, column in items.items()}
        _, errors = learner._errors(batch)
        loss = weighted_loss(errors, weights[place], batch["counts"])
        learner.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        torch.nn.utils.clip_grad_norm_(learner._parameters, learner.config.gradient_clip)
        learner._step()


class ByVmap(Together):
    """The values of all agents by `torch.func.vmap` of one agent's network; everything else as there."""

    def _values(self, parameters: dict[str, Tensor], rows: Tensor) -> Tensor:
        network = self.learners[0].online

        def of_one(own: dict[str, Tensor], mine: Tensor) -> Any:
            return torch.func.functional_call(network, own, (mine,))

        values: Tensor = torch.func.vmap(of_one)(parameters, rows)
        return values


def _show(name: str, agents: int, told: dict[int, dict[str, Any]]) -> None:
    print(f"\n{name}, {agents} agents: milliseconds (of one after the other)")
    print(f"{'batch':>8}", *(f"{way:>20}" for way in WAYS))
    for batch, figures in told.items():
        cells = (f"{figures['milliseconds'][w]:11.1f} ({figures['of_sequential'][w]:.2f}×)" for w in WAYS)
        print(f"{batch:8}", *(f"{cell:>20}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
