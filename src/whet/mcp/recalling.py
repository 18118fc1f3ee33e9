"""What a failure resembles, from memory."""

from collections.abc import Sequence
from typing import NamedTuple

from whet.bootstrap.remembering import opened_memory
from whet.bootstrap.site import Site
from whet.core.memories import Question, Recalled, Topic, Wanted
from whet.core.ports import Store
from whet.mcp.answers import Resembling
from whet.mcp.quoting import named, quoted, sentence
from whet.memory.remembering_texts import fitting, subjects

_TOPICS: tuple[Topic, ...] = ("failure", "finding", "fact")
_MOST = 8
_FORGETFUL = "Memory is switched off in the project's settings, so nothing is known that it resembles."
_NOTHING_TO_COMPARE = "What the failure said is not known, so only memories of the same test could be found."


class Resemblance(NamedTuple):
    found: tuple[Resembling, ...] | None
    notes: tuple[str, ...] = ()


def resemblance(site: Site, store: Store, text: str, tests: Sequence[str]) -> Resemblance:
    memory = opened_memory(site, store)
    if memory is None:
        return Resemblance(None, (_FORGETFUL,))
    about = subjects(*(f"test:{test}" for test in tests), *(f"file:{test.partition('::')[0]}" for test in tests))
    if not text and not about:
        return Resemblance(())
    question = Question(
        wanted=Wanted(project=memory.project, topics=_TOPICS), text=fitting(text) if text else "", subjects=about
    )
    found = memory.recall.recall(question, limit=_MOST)
    return Resemblance(tuple(map(_resembling, found)), () if text else (_NOTHING_TO_COMPARE,))


def _resembling(recalled: Recalled) -> Resembling:
    memory = recalled.memory
    test = memory.about.get("test")
    return Resembling(
        text=quoted(memory.text),
        test=named(test) if isinstance(test, str) else None,
        topic=memory.topic,
        at=memory.at,
        likeness=recalled.score,
        why=sentence(recalled.why),
        times_met=memory.support,
    )
