"""The encoder of BERT (Devlin et al. 2019), forward only, and the mean of what it says of a text's tokens."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from whet.memory.embedding.threads import one_thread

Floats = npt.NDArray[np.float32]
Tokens = npt.NDArray[np.int64]

# x · P(x²) / Q(x²), to seven digits within ±4, beyond which erf is ±1 in float32 (as in Eigen).
_ERF_ABOVE = (
    *(-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05),
    *(-7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02),
)
_ERF_BELOW = (
    *(-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03),
    -1.42647390514189e-02,
)
# As many numbers as stay in the processor's cache between the steps of one formula.
_BLOCK = 16384


class Bert:
    """Texts of any length go through the layers one behind the other, without padding; each attends to itself."""

    VERSION: ClassVar = "1"

    def __init__(self, config: Mapping[str, object], weights: Mapping[str, Floats]) -> None:
        self._layers, self._heads = int(str(config["num_hidden_layers"])), int(str(config["num_attention_heads"]))
        self._epsilon = float(str(config["layer_norm_eps"]))
        # Inputs × outputs, the layout in which a few rows times a matrix are quickest.
        self._weights = {
            name: np.ascontiguousarray(matrix.T) if matrix.ndim == 2 and name.startswith("encoder.") else matrix
            for name, matrix in weights.items()
        }

    @classmethod
    def open(cls, folder: Path) -> Self:
        from safetensors.numpy import load_file

        return cls(json.loads((folder / "config.json").read_text()), load_file(folder / "model.safetensors"))

    def places(self, texts: Sequence[Tokens]) -> Floats:
        """One row each, of unit length."""
        with one_thread():
            return self._places(texts)

    def _places(self, texts: Sequence[Tokens]) -> Floats:
        ends = np.cumsum([len(tokens) for tokens in texts])
        begins = np.concatenate(([0], ends[:-1]))
        values = self._embedded(texts)
        for layer in range(self._layers):
            values = self._layer(f"encoder.layer.{layer}.", values, list(zip(begins, ends, strict=True)))
        sums = np.add.reduceat(values, begins, axis=0)
        places: Floats = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return places

    def _embedded(self, texts: Sequence[Tokens]) -> Floats:
        words = self._weights["embeddings.word_embeddings.weight"][np.concatenate(texts)]
        positions = np.concatenate([np.arange(len(tokens)) for tokens in texts])
        words += self._weights["embeddings.position_embeddings.weight"][positions]
        words += self._weights["embeddings.token_type_embeddings.weight"][0]
        return self._normalised("embeddings.LayerNorm", words)

    def _layer(self, name: str, values: Floats, spans: list[tuple[int, int]]) -> Floats:
        attended = self._attended(name + "attention.self.", values, spans)
        attended = self._linear(name + "attention.output.dense", attended)
        attended += values
        values = self._normalised(name + "attention.output.LayerNorm", attended)
        wide = self._linear(name + "intermediate.dense", values)
        _gelu(wide)
        narrow = self._linear(name + "output.dense", wide)
        narrow += values
        return self._normalised(name + "output.LayerNorm", narrow)

    def _attended(self, name: str, values: Floats, spans: list[tuple[int, int]]) -> Floats:
        query, key, value = (self._by_head(self._linear(name + part, values)) for part in ("query", "key", "value"))
        attended = np.empty_like(values)
        for begin, end in spans:
            scores = query[:, begin:end] @ key[:, begin:end].transpose(0, 2, 1)
            scores *= np.float32(query.shape[2] ** -0.5)
            scores -= scores.max(axis=2, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=2, keepdims=True)
            mixed = scores @ value[:, begin:end]
            attended[begin:end] = mixed.transpose(1, 0, 2).reshape(end - begin, -1)
        return attended

    def _by_head(self, values: Floats) -> Floats:
        return values.reshape(len(values), self._heads, -1).transpose(1, 0, 2)

    def _linear(self, name: str, values: Floats) -> Floats:
        product: Floats = values @ self._weights[name + ".weight"]
        product += self._weights[name + ".bias"]
        return product

    def _normalised(self, name: str, values: Floats) -> Floats:
        values -= values.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", values, values)[:, None] / np.float32(values.shape[1])
        values /= np.sqrt(variance + np.float32(self._epsilon))
        values *= self._weights[name + ".weight"]
        values += self._weights[name + ".bias"]
        return values


def _gelu(values: Floats) -> None:
    """x · (1 + erf(x / √2)) / 2, in place."""
    flat = values.reshape(-1)
    for begin in range(0, len(flat), _BLOCK):
        block = flat[begin : begin + _BLOCK]
        block *= (_erf(block * np.float32(0.5**0.5)) + np.float32(1)) * np.float32(0.5)


def _erf(values: Floats) -> Floats:
    np.clip(values, -4, 4, out=values)
    squares = values * values
    values *= _polynomial(squares, _ERF_ABOVE)
    values /= _polynomial(squares, _ERF_BELOW)
    return values


def _polynomial(values: Floats, factors: tuple[float, ...]) -> Floats:
    result = np.full_like(values, factors[0])
    for factor in factors[1:]:
        result *= values
        result += np.float32(factor)
    return result
