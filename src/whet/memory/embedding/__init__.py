"""Places of texts: near each other when the texts mean something alike."""

from functools import cache

from whet.core.errors import RefusedInput
from whet.core.memories import Embedder
from whet.memory.embedding.hashed import HashedEmbedder
from whet.memory.embedding.minilm import MiniLmEmbedder

__all__ = ["HashedEmbedder", "MiniLmEmbedder", "embedder"]


@cache
def embedder(name: str = "hashed") -> Embedder:
    """The one embedder of this name in this process: "hashed" (by words), or "minilm" (by meaning; needs the extra).

    Words are the default: among failures they found more of the same cause (docs/triage.md), a hundred times faster.
    """
    match name:
        case "minilm":
            return MiniLmEmbedder()
        case "hashed":
            return HashedEmbedder()
    raise RefusedInput(f"There is no embedder called {name!r}.", 'Use "hashed" or "minilm".')
