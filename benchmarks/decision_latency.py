"""How long one decision takes on a CPU: `python benchmarks/decision_latency.py [--json OUT] [--rounds N]`.

A DQN of the default size, for the states of the test executor as they were recorded, decides on one state at a time:
with torch, with numpy (`whet.policies.deep.acting`, which is what Whet uses) and with onnxruntime from the exported
file. They take turns in one run with one thread each, and their actions are compared on 10,000 states.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported
sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it has no types
import torch

from whet.agents.catalogue import agent_named
from whet.core.records import State
from whet.improvement.world import shipped
from whet.policies.deep.acting import Actor
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_config import Config
from whet.policies.deep.encoding import Encoder
from whet.policies.deep.export import export_onnx
from whet.policies.deep.learning import Flags, Floats

AGENT, COMPARED, EACH_ROUND = "test-executor", 10_000, 200
Decides = Callable[[Floats, Flags], int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    encoder, actions = Encoder(agent_named(AGENT).state_type), tuple(a.name for a in agent_named(AGENT).actions)
    learner = DQN(Config(layout=encoder.layout, actions=actions, device="cpu"), seed=1)
    contenders, actor = _contenders(learner)
    states = [state for world in shipped() if world.agent == AGENT for state in world.states()]
    rows, masks = _states(np.stack([encoder.row(state) for state in states]), len(actions))
    figures = {
        "microseconds": _summary(_measure(contenders, rows, masks, arguments.rounds)),
        "state_to_action": _percentiles(_from_state(encoder, actor, states, masks)),
        "same_actions": _same(contenders, rows, masks),
        "states_compared": COMPARED,
    }
    _show(figures)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


def _contenders(learner: DQN) -> tuple[dict[str, Decides], Actor]:
    with tempfile.TemporaryDirectory() as folder:
        saved, exported = Path(folder) / "policy", Path(folder) / "policy.onnx"
        learner.save(saved)
        export_onnx(saved, exported)
        actor, session = Actor.open(saved), _session(exported)

    def by_torch(row: Floats, mask: Flags) -> int:
        return int(learner.values(row[None], mask[None]).argmax())

    def by_onnxruntime(row: Floats, mask: Flags) -> int:
        values = session.run(None, {"observations": row[None]})[0][0].sum(axis=0)
        values[~mask] = -np.inf
        return int(values.argmax())

    return {"torch": by_torch, "numpy": actor.best, "onnxruntime": by_onnxruntime}, actor


def _session(path: Path) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _states(recorded: Floats, actions: int) -> tuple[Floats, Flags]:
    """Recorded states with a little noise, so that no two are alike."""
    random = np.random.default_rng(0)
    rows = recorded[random.integers(0, len(recorded), COMPARED)]
    rows = rows + random.normal(scale=0.1, size=rows.shape).astype(np.float32)
    masks = random.random((COMPARED, actions)) < 0.5
    masks[np.arange(COMPARED), random.integers(0, actions, COMPARED)] = True
    return rows, masks


def _measure(contenders: dict[str, Decides], rows: Floats, masks: Flags, rounds: int) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, decide in contenders.items():
            times = [_timed(decide, rows[i], masks[i]) for i in range(EACH_ROUND)]
            seconds[name] += times if number else []  # the first round warms up
    return seconds


def _timed(decide: Decides, row: Floats, mask: Flags) -> float:
    started = time.perf_counter()
    decide(row, mask)
    return time.perf_counter() - started


def _from_state(encoder: Encoder, actor: Actor, states: list[State], masks: Flags) -> list[float]:
    """With the encoding of the state, as an agent meets it."""
    seconds = []
    for turn in range(2_000):
        started = time.perf_counter()
        actor.best(encoder.row(states[turn % len(states)]), masks[turn])
        seconds.append(time.perf_counter() - started)
    return seconds


def _summary(seconds: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    return {name: _percentiles(times) for name, times in seconds.items()}


def _percentiles(seconds: list[float]) -> dict[str, float]:
    return {f"p{q}": float(np.percentile(seconds, q)) * 1e6 for q in (10, 50, 99)}


def _same(contenders: dict[str, Decides], rows: Floats, masks: Flags) -> dict[str, bool]:
    chosen = {
        name: [decide(row, mask) for row, mask in zip(rows, masks, strict=True)] for name, decide in contenders.items()
    }
    return {name: actions == chosen["torch"] for name, actions in chosen.items()}


def _show(figures: dict[str, Any]) -> None:
    print(f"{'µs a decision':20}{'p10':>8}{'p50':>8}{'p99':>8}   actions on {figures['states_compared']:,} states")
    for name, times in figures["microseconds"].items():
        same = "as torch" if figures["same_actions"][name] else "NOT as torch"
        print(f"{name:20}" + "".join(f"{times[q]:8.0f}" for q in ("p10", "p50", "p99")) + f"   {same}")
    whole = figures["state_to_action"]
    print(f"{'numpy, with encoding':20}" + "".join(f"{whole[q]:8.0f}" for q in ("p10", "p50", "p99")))


if __name__ == "__main__":
    main()
