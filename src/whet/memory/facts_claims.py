"""What is claimed to be so: a sentence, what speaks for it and what against, and the memory it becomes."""

from datetime import datetime
from typing import NamedTuple

from whet.core.keys import Atom, state_key
from whet.core.memories import Kind, Memory, Topic
from whet.memory.facts_counting import Tally
from whet.memory.remembering_texts import fitting, subjects

_LEAST_IMPORTANT = 0.5


class Claim(NamedTuple):
    rule: str
    names: tuple[str, ...]  # what it is about; the same rule about the same is the same claim
    sentence: str
    tally: Tally
    holds: bool
    worth_saying: bool  # beyond chance; what was said once stays said while it holds
    subjects: tuple[str, ...] = ()
    agent: str | None = None
    kind: Kind = Kind.SEMANTIC

    @property
    def topic(self) -> Topic:
        return "procedure" if self.kind is Kind.PROCEDURAL else "fact"

    @property
    def source(self) -> str:
        return f"{self.topic}:{self.rule}:{state_key(self.names)}"

    def memory(self, project: str, at: datetime) -> Memory:
        tally = self.tally
        about: dict[str, Atom] = {"rule": self.rule, "lower_bound": round(tally.lower, 4)}
        about |= {"otherwise": tally.otherwise, "otherwise_not": tally.otherwise_not}
        return Memory(
            project=project,
            kind=self.kind,
            topic=self.topic,
            source=self.source,
            agent=self.agent,
            text=fitting(self.sentence),
            subjects=subjects(*self.subjects),
            about=about,
            importance=round(_LEAST_IMPORTANT + (1 - _LEAST_IMPORTANT) * tally.lower, 4),
            support=tally.support,
            against=tally.against,
            at=at,
        )


def counted(tally: Tally) -> str:
    """`14 of 15 times; otherwise 3 of 80`."""
    told = f"{tally.support:,} of {tally.support + tally.against:,} times"
    others = tally.otherwise + tally.otherwise_not
    return f"{told}; otherwise {tally.otherwise:,} of {others:,}" if others else told
