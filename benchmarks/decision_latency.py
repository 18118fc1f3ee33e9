"""How long one decision takes on a CPU: `python benchmarks/decision_latency.py [--json OUT] [--rounds N]`.

Networks for the states of the test executor as they were recorded decide on one state at a time: with torch, with numpy
(`whet.policies.deep.acting`, which is what Whet uses) and with onnxruntime from the exported file; from a row of
numbers, and from the state itself, whose encoding then counts too. All take turns in one run with one thread each, and
their actions are compared on 10,000 states.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported
sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it has no types
import torch

from whet.agents.catalogue import agent_named
from whet.core.records import State
from whet.improvement.training_learners import new_learner
from whet.improvement.world import shipped
from whet.policies.deep.acting import Actor, PPOActor
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_config import Config
from whet.policies.deep.encoding import Encoder
from whet.policies.deep.export import export_onnx
from whet.policies.deep.learning import DeepLearner, Flags, Floats

AGENT, COMPARED, EACH_ROUND = agent_named("test-executor"), 10_000, 200
ACTIONS = tuple(action.name for action in AGENT.actions)
SHOWN = ("p10", "p50", "p99")
Kind = Literal["dqn", "ppo"]
Decides = Callable[[Floats, Flags], int]


class Met(NamedTuple):
    """States as they were recorded, rows of these with a little noise, so that no two are alike, and masks."""

    states: Sequence[State]
    rows: Floats
    masks: Flags


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    encoder = Encoder(AGENT.state_type)
    met = _met(encoder)
    figures = {
        name: _figures(_contenders(learner, kind), encoder, met, arguments.rounds)
        for name, kind, learner in _learners(encoder)
    }
    _show(figures)
    if arguments.json:
        told = {"states_compared": COMPARED, "networks": figures}
        arguments.json.write_text(json.dumps(told, indent=2) + "\n")


def _learners(encoder: Encoder) -> list[tuple[str, Kind, DeepLearner]]:
    kinds: tuple[Kind, ...] = ("dqn", "ppo")
    large = DQN(Config(layout=encoder.layout, actions=ACTIONS, device="cpu"), seed=1)
    usual = [(f"{kind}, of whet train", kind, _usual(kind, encoder)) for kind in kinds]
    return [("dqn, default size", "dqn", large), *usual]


def _usual(kind: Kind, encoder: Encoder) -> DeepLearner:
    return new_learner(kind, encoder.layout, ACTIONS, points=10.0, discount=0.99, steps=1, seed=1)


def _contenders(learner: DeepLearner, kind: Kind) -> dict[str, Decides]:
    with tempfile.TemporaryDirectory() as folder:
        saved, exported = Path(folder) / "policy", Path(folder) / "policy.onnx"
        learner.save(saved)
        export_onnx(saved, exported, kind)
        actor = Actor.open(saved) if kind == "dqn" else PPOActor.open(saved)
        session = _session(exported)

    def by_torch(row: Floats, mask: Flags) -> int:
        return int(learner.values(row[None], mask[None]).argmax())

    def by_onnxruntime(row: Floats, mask: Flags) -> int:
        values = session.run(None, {"observations": row[None]})[0][0]
        values = values.sum(axis=0) if kind == "dqn" else values
        values[~mask] = -np.inf
        return int(values.argmax())

    return {"torch": by_torch, "numpy": actor.best, "onnxruntime": by_onnxruntime}


def _session(path: Path) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _met(encoder: Encoder) -> Met:
    random = np.random.default_rng(0)
    states = [state for world in shipped() if world.agent == AGENT.name for state in world.states()]
    rows = np.stack([encoder.row(state) for state in states])[random.integers(0, len(states), COMPARED)]
    rows = rows + random.normal(scale=0.1, size=rows.shape).astype(np.float32)
    masks = random.random((COMPARED, len(ACTIONS))) < 0.5
    masks[np.arange(COMPARED), random.integers(0, len(ACTIONS), COMPARED)] = True
    return Met(states, rows, masks)


def _figures(contenders: dict[str, Decides], encoder: Encoder, met: Met, rounds: int) -> dict[str, Any]:
    rows: dict[str, list[float]] = {name: [] for name in contenders}
    states: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, decide in contenders.items():
            both = _without_encoding(decide, met), _with_encoding(decide, encoder, met)
            if number:  # the first round warms up
                rows[name] += both[0]
                states[name] += both[1]
    chosen = {
        name: [decide(*each) for each in zip(met.rows, met.masks, strict=True)] for name, decide in contenders.items()
    }
    return {
        name: {
            "without_encoding": _percentiles(rows[name]),
            "with_encoding": _percentiles(states[name]),
            "same_actions": chosen[name] == chosen["torch"],
        }
        for name in contenders
    }


def _without_encoding(decide: Decides, met: Met) -> list[float]:
    seconds = []
    for row, mask in zip(met.rows[:EACH_ROUND], met.masks, strict=False):
        started = time.perf_counter()
        decide(row, mask)
        seconds.append(time.perf_counter() - started)
    return seconds


def _with_encoding(decide: Decides, encoder: Encoder, met: Met) -> list[float]:
    seconds = []
    for turn in range(EACH_ROUND):
        state, mask = met.states[turn % len(met.states)], met.masks[turn]
        started = time.perf_counter()
        decide(encoder.row(state), mask)
        seconds.append(time.perf_counter() - started)
    return seconds


def _percentiles(seconds: list[float]) -> dict[str, float]:
    return {shown: float(np.percentile(seconds, int(shown[1:]))) * 1e6 for shown in SHOWN}


def _show(figures: dict[str, dict[str, Any]]) -> None:
    head = "".join(f"{shown:>7}" for shown in SHOWN)
    print(f"{'µs a decision':36}{'from a row':>21}{'from a state':>21}")
    print(f"{'':36}{head}{head}   actions on {COMPARED:,} states")
    for network, contenders in figures.items():
        for name, told in contenders.items():
            times = [told[way][shown] for way in ("without_encoding", "with_encoding") for shown in SHOWN]
            same = "as torch" if told["same_actions"] else "NOT as torch"
            print(f"{network + ': ' + name:36}" + "".join(f"{each:7.0f}" for each in times) + f"   {same}")


if __name__ == "__main__":
    main()
