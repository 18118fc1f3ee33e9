"""A saved policy as an ONNX file, for programs without Python: `observations` N × size in, `values` out.

Of a DQN these are N × heads × actions, in rewards; of PPO N × actions: logarithms of probabilities, up to a number that
the actions of a row have in common. The policy's kind, the actions' names and the layout's digest are in the metadata.
"""

from pathlib import Path
from typing import Any, Literal

from whet.policies.deep.dqn_artefact import weights_in
from whet.policies.deep.export_dqn import dqn_model
from whet.policies.deep.onnx_graph import Graph
from whet.policies.deep.ppo_artefact import Layers, layers_in
from whet.policies.deep.ppo_config import Config


def export_onnx(folder: Path, path: Path, policy: Literal["dqn", "ppo"] = "dqn") -> None:
    """The whole file or, when something goes wrong, what was there before."""
    model = dqn_model(*weights_in(folder)) if policy == "dqn" else ppo_model(*layers_in(folder)[:2])
    draft = path.with_name(f"{path.name}.partial")
    draft.write_bytes(model.SerializeToString())
    draft.replace(path)


def ppo_model(config: Config, layers: Layers) -> Any:
    graph = Graph()
    rows = "observations"
    for matrix, offsets in layers[:-1]:
        rows = graph.add("Tanh", graph.linear(rows, matrix.T, offsets))
    matrix, offsets = layers[-1]
    graph.linear(rows, matrix.T, offsets)
    return graph.model("ppo", config.layout, config.actions, (len(config.actions),))
