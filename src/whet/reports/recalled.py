"""What decisions and findings were reminded by, with the words of the memories as far as they are still there."""

from collections.abc import Sequence

from whet.core.memories import Memories
from whet.core.records import Recollection

FORGOTTEN = "forgotten since"
_LONGEST = 300


def looked_up(recollections: Sequence[Recollection], memories: Memories) -> tuple[Recollection, ...]:
    """Texts are never stored with a decision, so that what is forgotten is gone everywhere."""
    if not recollections:
        return ()
    texts = {memory.id: memory.text for memory in memories.get([each.memory for each in recollections])}
    return tuple(each.model_copy(update={"text": _short(texts.get(each.memory, FORGOTTEN))}) for each in recollections)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
