"""The sums of `networks.QNetwork` for one row, in numpy, with everything that is linear multiplied out beforehand.

At these sizes a call of numpy costs as much as what it computes, so that there are as few as possible; and the
weights should stay in a core's cache, so that matrices are not multiplied out where that makes them larger. LayerNorm
subtracts the mean of its input, and the dueling heads that of the advantages: both are taken out of the weights once
instead of out of the numbers each time. What reads the state is one matrix.
"""

import math
from collections.abc import Mapping

import numpy as np

from whet.policies.deep.artefacts import Array
from whet.policies.deep.dqn_config import Config
from whet.policies.deep.learning import Floats

_EPSILON = 1e-5  # torch's, in its LayerNorm
_ZERO = np.zeros((), dtype=np.float32)  # a ready array: numpy need not make one of a number each time


class Forward:
    def __init__(self, config: Config, weights: Mapping[str, Array]) -> None:
        layout, sizes = config.layout, config.network
        self.state_size, self.width = layout.state_size, sizes.encoder[0]
        self.attention = _Attention(config, weights) if layout.attended > 1 else None
        self.entry, self.entry_offsets = _entry(config, weights)
        self.second, self.second_offsets = _linear(weights, "encoder.3")
        self.first_norm, self.second_norm = _Norm(weights, "encoder.1"), _Norm(weights, "encoder.4")
        self.streams, self.stream_offsets = _turned(weights["heads.streams.weight"]), weights["heads.streams.bias"]
        if self.attention is not None:  # what it adds whatever the state is
            self.stream_offsets = self.stream_offsets + self.attention.offsets @ self.streams
        self.shape = (sizes.heads, 1, 2 * sizes.stream)
        self.heads, self.head_offsets = heads_of(weights)
        self.all_heads = self.heads.reshape(-1, len(config.actions))
        self.all_offsets = self.head_offsets.sum(axis=0)

    def __call__(self, row: Floats) -> Array:
        """Heads × actions."""
        values: Array = np.matmul(self._streams(row).reshape(self.shape), self.heads)[:, 0]
        values += self.head_offsets
        return values

    def summed(self, row: Floats) -> Array:
        """The heads' sum for each action."""
        values: Array = self._streams(row).dot(self.all_heads)
        values += self.all_offsets
        return values

    def _streams(self, row: Floats) -> Array:
        entered: Array = row[: self.state_size].dot(self.entry)
        entered += self.entry_offsets
        summary: Array = self.first_norm(entered[: self.width]).dot(self.second)
        summary += self.second_offsets
        self.second_norm(summary)
        if self.attention is not None:
            summary += self.attention(summary, entered[self.width :], row)
        streams: Array = summary.dot(self.streams)
        streams += self.stream_offsets
        return np.maximum(streams, _ZERO, out=streams)


def heads_of(weights: Mapping[str, Array]) -> tuple[Array, Array]:
    """V + A − mean A as one matrix from both streams of each head, heads × 2·stream × actions, and its offsets."""
    advantage, offsets = weights["heads.advantage"], weights["heads.advantage_offsets"]
    adds = advantage - advantage.mean(axis=2, keepdims=True)
    worth = np.broadcast_to(weights["heads.worth"], advantage.shape)
    both = weights["heads.worth_offsets"] + offsets - offsets.mean(axis=1, keepdims=True)
    return np.ascontiguousarray(np.concatenate((worth, adds), axis=1)), both


class _Norm:
    """LayerNorm (Ba et al., 2016) and ReLU of one row whose mean is 0, in place."""

    def __init__(self, weights: Mapping[str, Array], name: str) -> None:
        scale = weights[f"{name}.weight"]
        self.scale, self.shift = scale * np.float32(math.sqrt(len(scale))), weights[f"{name}.bias"]
        self.epsilon = _EPSILON * len(scale)

    def __call__(self, centred: Array) -> Array:
        centred *= 1.0 / math.sqrt(float(centred.dot(centred)) + self.epsilon)
        centred *= self.scale
        centred += self.shift
        return np.maximum(centred, _ZERO, out=centred)


class _Attention:
    """Absent memories are left out here, where the network gives them the weight 0."""

    def __init__(self, config: Config, weights: Mapping[str, Array]) -> None:
        mine = {name.removeprefix("attention."): array for name, array in weights.items()}
        self.layout, self.parts, self.width = config.layout, config.network.attention_heads, config.network.attention
        if self.layout.memories:
            self.memory, self.memory_offsets = _centred(mine["memory.weight"].T), _centred(mine["memory.bias"])
        self.scale, self.shift = mine["norm.weight"] * np.float32(math.sqrt(self.width)), mine["norm.bias"]
        self.epsilon, self.ones = np.float32(_EPSILON * self.width), np.ones(self.width, dtype=np.float32)
        scale = np.float32(1.0 / math.sqrt(self.width // self.parts))
        self.query, self.query_offsets = _turned(mine["query.weight"] * scale), mine["query.bias"] * scale
        self.answers = _turned(np.concatenate((mine["key.weight"], mine["value.weight"])))
        self.output = _turned(mine["output.weight"])
        # Which of a token's numbers are whose: with it all parts are asked in one product, and answer in one.
        self.own = np.repeat(np.eye(self.parts, dtype=np.float32), self.width // self.parts, axis=1)
        self.each = np.ones(self.parts, dtype=np.float32)  # a product with ones is the quickest sum
        # The weights of attention sum to one, so that the values' offsets pass through it as they are.
        self.offsets = mine["output.bias"] + mine["output.weight"] @ mine["value.bias"]

    def __call__(self, summary: Array, groups: Array, row: Floats) -> Array:
        tokens = self._tokens(groups.reshape(-1, self.width), row)
        answers = tokens.dot(self.answers)
        query = summary.dot(self.query)
        query += self.query_offsets
        shares = (self.own * query).dot(answers[:, : self.width].T)
        shares -= np.maximum.reduce(shares, axis=1, keepdims=True)
        np.exp(shares, out=shares)
        shares /= np.add.reduce(shares, axis=1, keepdims=True)
        told = shares.dot(answers[:, self.width :])
        told *= self.own
        return np.asarray(self.each.dot(told).dot(self.output))

    def _tokens(self, tokens: Array, row: Floats) -> Array:
        layout = self.layout
        if layout.memories:
            there = row[layout.size - layout.memories :] > 0.5
            recalled = row[layout.state_size : layout.size - layout.memories].reshape(layout.memories, -1)[there]
            tokens = np.concatenate((tokens, recalled @ self.memory + self.memory_offsets))
        lengths = (tokens * tokens).dot(self.ones)
        lengths += self.epsilon
        tokens /= np.sqrt(lengths, out=lengths)[:, None]
        tokens *= self.scale
        tokens += self.shift
        return np.maximum(tokens, _ZERO, out=tokens)


def _entry(config: Config, weights: Mapping[str, Array]) -> tuple[Array, Array]:
    """All that reads the row's state, side by side: the encoder's first layer, and the embedding of each group."""
    first, offsets = _linear(weights, "encoder.0")
    if config.layout.attended == 1:
        return first, offsets
    groups, group_offsets = _centred(weights["attention.groups"]), _centred(weights["attention.group_offsets"])
    tokens, width, embedding = groups.shape
    apart = np.zeros((tokens, width, tokens, embedding), dtype=np.float32)
    apart[np.arange(tokens), :, np.arange(tokens)] = groups  # a group's numbers reach its own token alone
    both = np.concatenate((first, apart.reshape(tokens * width, -1)), axis=1)
    return np.ascontiguousarray(both), np.concatenate((offsets, group_offsets.reshape(-1)))


def _linear(weights: Mapping[str, Array], name: str) -> tuple[Array, Array]:
    """With the mean of its outputs taken out, as the LayerNorm behind it would."""
    matrix, offsets = weights[f"{name}.weight"], weights[f"{name}.bias"]
    return _turned(matrix - matrix.mean(axis=0)), offsets - offsets.mean()


def _turned(matrix: Array) -> Array:
    """Inputs × outputs, the layout in which a row times a matrix is quickest."""
    return np.ascontiguousarray(matrix.T)


def _centred(weights: Array) -> Array:
    return np.ascontiguousarray(weights - weights.mean(axis=-1, keepdims=True))
