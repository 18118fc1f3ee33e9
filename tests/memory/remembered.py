"""Memories for tests."""

from datetime import UTC, datetime, timedelta
from typing import Any

from whet.core.memories import Embedder, Kind, Memories, Memory, Question, Wanted

NOW = datetime.now(UTC)


def memory(text: str, days_ago: float = 1.0, project: str = "shop", **given: Any) -> Memory:
    given.setdefault("kind", Kind.EPISODIC)
    given.setdefault("topic", "failure")
    given.setdefault("source", text[:300] or "nothing")
    return Memory(project=project, text=text, at=NOW - timedelta(days=days_ago), **given)


def keep(memories: Memories, embedder: Embedder, *kept: Memory) -> None:
    memories.keep(kept, embedder.name, embedder.embed([one.found_by() for one in kept]))


def question(text: str = "", *subjects: str, project: str = "shop") -> Question:
    return Question(wanted=Wanted(project=project), text=text, subjects=subjects)
