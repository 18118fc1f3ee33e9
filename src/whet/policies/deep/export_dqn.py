"""The DQN as ONNX: `observations` N × size, `values` N × heads × actions, in rewards."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from whet.policies.deep.artefacts import Array
from whet.policies.deep.dqn_config import Config
from whet.policies.deep.forward import heads_of
from whet.policies.deep.onnx_graph import Graph


def dqn_model(config: Config, weights: Mapping[str, Array]) -> Any:
    graph, shape = Graph(), (config.network.heads, len(config.actions))
    _draw(graph, config, weights)
    return graph.model("dqn", config.layout, config.actions, shape)


def _draw(graph: Graph, config: Config, weights: Mapping[str, Array]) -> None:
    layout, sizes = config.layout, config.network
    state = graph.columns("observations", 0, layout.state_size)
    summary = state
    for linear, norm in (("encoder.0", "encoder.1"), ("encoder.3", "encoder.4")):
        summary = graph.linear(summary, weights[f"{linear}.weight"].T, weights[f"{linear}.bias"])
        summary = graph.normed(summary, weights[f"{norm}.weight"], weights[f"{norm}.bias"])
    if layout.attended > 1:
        summary = graph.add("Add", summary, _attention(graph, config, weights, state, summary))
    streams = graph.linear(summary, weights["heads.streams.weight"].T, weights["heads.streams.bias"])
    parted = graph.shaped(graph.add("Relu", streams), (-1, sizes.heads, 1, 2 * sizes.stream))
    heads, offsets = heads_of(weights)
    scale = np.float32(1.0 / config.reward_scale)
    values = graph.add("MatMul", parted, graph.constant(heads * scale))
    graph.add("Add", graph.shaped(values, (-1, *offsets.shape)), graph.constant(offsets * scale))


def _attention(graph: Graph, config: Config, weights: Mapping[str, Array], state: str, summary: str) -> str:
    parts, width = config.network.attention_heads, config.network.attention
    mine = {name.removeprefix("attention."): array for name, array in weights.items()}
    tokens = graph.normed(_tokens(graph, config, mine, state), mine["norm.weight"], mine["norm.bias"])
    scale = np.float32(1.0 / math.sqrt(width // parts))
    query = graph.linear(summary, mine["query.weight"].T * scale, mine["query.bias"] * scale)
    query = graph.shaped(query, (-1, parts, 1, width // parts))
    keys = graph.shaped(graph.add("MatMul", tokens, graph.constant(mine["key.weight"].T)), (0, 0, parts, -1))
    values = graph.shaped(graph.linear(tokens, mine["value.weight"].T, mine["value.bias"]), (0, 0, parts, -1))
    scores = graph.add("MatMul", query, graph.add("Transpose", keys, perm=[0, 2, 3, 1]))
    shares = graph.add("Softmax", _without_absent(graph, config, scores), axis=-1)
    told = graph.add("MatMul", shares, graph.add("Transpose", values, perm=[0, 2, 1, 3]))
    return graph.linear(graph.shaped(told, (-1, width)), mine["output.weight"].T, mine["output.bias"])


def _tokens(graph: Graph, config: Config, mine: Mapping[str, Array], state: str) -> str:
    layout = config.layout
    groups = graph.shaped(state, (-1, layout.tokens, 1, layout.width))
    embedded = graph.shaped(
        graph.add("MatMul", groups, graph.constant(mine["groups"])), (-1, *mine["group_offsets"].shape)
    )
    embedded = graph.add("Add", embedded, graph.constant(mine["group_offsets"]))
    if not layout.memories:
        return embedded
    recalled = graph.columns("observations", layout.state_size, layout.size - layout.memories)
    recalled = graph.shaped(recalled, (-1, layout.memories, layout.memory_width))
    return graph.add("Concat", embedded, graph.linear(recalled, mine["memory.weight"].T, mine["memory.bias"]), axis=1)


def _without_absent(graph: Graph, config: Config, scores: str) -> str:
    """A score of −1e9 is a share of exactly 0."""
    layout = config.layout
    if not layout.memories:
        return scores
    flags = graph.columns("observations", layout.size - layout.memories, layout.size)
    absent = graph.add("Less", flags, graph.constant(np.float32(0.5)))
    penalty = graph.add("Where", absent, graph.constant(np.float32(-1e9)), graph.constant(np.float32(0.0)))
    nothing = graph.add("Mul", graph.columns("observations", 0, 1), graph.constant(np.zeros(layout.tokens, np.float32)))
    both = graph.shaped(graph.add("Concat", nothing, penalty, axis=1), (-1, 1, 1, layout.attended))
    return graph.add("Add", scores, both)
