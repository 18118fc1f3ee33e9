"""The sums of `networks.QNetwork` for one row, in numpy, with everything that is linear multiplied out beforehand.

LayerNorm subtracts the mean of its input, and the dueling heads that of the advantages: both are taken out of the
weights once instead of out of the numbers each time.
"""

import math
from collections.abc import Mapping

import numpy as np

from whet.policies.deep.artefacts import Array
from whet.policies.deep.dqn_config import Config
from whet.policies.deep.learning import Floats

_EPSILON = 1e-5  # torch's, in its LayerNorm


class Forward:
    def __init__(self, config: Config, weights: Mapping[str, Array]) -> None:
        layout, sizes = config.layout, config.network
        self.state_size = layout.state_size
        self.first, self.second = _Layer(weights, "encoder.0", "encoder.1"), _Layer(weights, "encoder.3", "encoder.4")
        self.attention = _Attention(config, weights) if layout.attended > 1 else None
        self.streams, self.stream_offsets = _turned(weights["heads.streams.weight"]), weights["heads.streams.bias"]
        self.shape = (sizes.heads, 1, 2 * sizes.stream)
        self.heads, self.head_offsets = heads_of(weights)

    def __call__(self, row: Floats) -> Array:
        """Heads × actions."""
        summary = self.second(self.first(row[: self.state_size]))
        if self.attention is not None:
            summary += self.attention(summary, row)
        streams = summary @ self.streams
        streams += self.stream_offsets
        np.maximum(streams, 0.0, out=streams)
        values: Array = np.matmul(streams.reshape(self.shape), self.heads)[:, 0]
        values += self.head_offsets
        return values


def heads_of(weights: Mapping[str, Array]) -> tuple[Array, Array]:
    """V + A − mean A as one matrix from both streams of each head, heads × 2·stream × actions, and its offsets."""
    advantage, offsets = weights["heads.advantage"], weights["heads.advantage_offsets"]
    adds = advantage - advantage.mean(axis=2, keepdims=True)
    worth = np.broadcast_to(weights["heads.worth"], advantage.shape)
    both = weights["heads.worth_offsets"] + offsets - offsets.mean(axis=1, keepdims=True)
    return np.ascontiguousarray(np.concatenate((worth, adds), axis=1)), both


class _Layer:
    """Linear, LayerNorm (Ba et al., 2016), ReLU."""

    def __init__(self, weights: Mapping[str, Array], linear: str, norm: str) -> None:
        matrix, offsets = weights[f"{linear}.weight"], weights[f"{linear}.bias"]
        self.matrix, self.offsets = _turned(matrix - matrix.mean(axis=0)), offsets - offsets.mean()
        self.scale, self.shift = weights[f"{norm}.weight"] * np.float32(math.sqrt(len(matrix))), weights[f"{norm}.bias"]
        self.epsilon = _EPSILON * len(matrix)

    def __call__(self, row: Array) -> Array:
        centred: Array = row @ self.matrix
        centred += self.offsets
        centred *= np.float32(1.0 / math.sqrt(float(centred @ centred) + self.epsilon))
        centred *= self.scale
        centred += self.shift
        np.maximum(centred, 0.0, out=centred)
        return centred


class _Attention:
    """Absent memories are left out here, where the network gives them the weight 0."""

    def __init__(self, config: Config, weights: Mapping[str, Array]) -> None:
        mine = {name.removeprefix("attention."): array for name, array in weights.items()}
        self.layout, self.parts, width = config.layout, config.network.attention_heads, config.network.attention
        self.groups, self.group_offsets = _centred(mine["groups"]), _centred(mine["group_offsets"])
        if self.layout.memories:
            self.memory, self.memory_offsets = _centred(mine["memory.weight"].T), _centred(mine["memory.bias"])
        self.norm, self.shift = mine["norm.weight"] * np.float32(math.sqrt(width)), mine["norm.bias"]
        self.epsilon = np.float32(_EPSILON * width)
        scale = np.float32(1.0 / math.sqrt(width // self.parts))
        self.query, self.query_offsets = _turned(mine["query.weight"] * scale), mine["query.bias"] * scale
        self.answers = _turned(np.concatenate((mine["key.weight"], mine["value.weight"])))
        self.output = _turned(mine["output.weight"])
        # The weights of attention sum to one, so that the values' offsets pass through it as they are.
        self.output_offsets = mine["output.bias"] + mine["value.bias"] @ self.output

    def __call__(self, summary: Array, row: Floats) -> Array:
        tokens = self._tokens(row)
        tokens /= np.sqrt(np.einsum("td,td->t", tokens, tokens) + self.epsilon)[:, None]
        tokens *= self.norm
        tokens += self.shift
        np.maximum(tokens, 0.0, out=tokens)
        query = (summary @ self.query + self.query_offsets).reshape(self.parts, 1, -1)
        keys, values = (tokens @ self.answers).reshape(len(tokens), 2, self.parts, -1).transpose(1, 2, 3, 0)
        weights = np.exp(_below_largest(query @ keys))
        weights /= weights.sum(axis=-1, keepdims=True)
        told = (values @ weights.transpose(0, 2, 1)).reshape(-1) @ self.output
        told += self.output_offsets
        return np.asarray(told)

    def _tokens(self, row: Floats) -> Array:
        layout = self.layout
        groups = row[: layout.state_size].reshape(layout.tokens, 1, layout.width)
        embedded = np.matmul(groups, self.groups)[:, 0]
        embedded += self.group_offsets
        if not layout.memories:
            return np.asarray(embedded)
        there = row[layout.size - layout.memories :] > 0.5
        recalled = row[layout.state_size : layout.size - layout.memories].reshape(layout.memories, -1)[there]
        return np.concatenate((embedded, recalled @ self.memory + self.memory_offsets))


def _turned(matrix: Array) -> Array:
    """Inputs × outputs, the layout in which a row times a matrix is quickest."""
    return np.ascontiguousarray(matrix.T)


def _centred(weights: Array) -> Array:
    return np.ascontiguousarray(weights - weights.mean(axis=-1, keepdims=True))


def _below_largest(scores: Array) -> Array:
    return np.asarray(scores - scores.max(axis=-1, keepdims=True))
