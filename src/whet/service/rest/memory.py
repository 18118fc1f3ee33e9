"""What is remembered: told, asked, and put together."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from pydantic import Field

from whet.client.wire import Consolidated, Found, Noted, Retrieved
from whet.core.keys import state_key
from whet.core.memories import LONGEST_TEXT, MOST_SUBJECTS, Kind, Memory, Question, Topic, Wanted
from whet.core.people import Person, Role
from whet.core.records import Probability, Record
from whet.memory.remembering import keep
from whet.memory.remembering_texts import fitting, subjects
from whet.service.access import require
from whet.service.desk import desk_of
from whet.service.rest.answers import PROBLEMS
from whet.service.rest.bodies import Body
from whet.service.rest.names import AgentName

router = APIRouter(prefix="/api/v1/memory", tags=["memory"], responses=PROBLEMS)
Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
Subjects = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=MOST_SUBJECTS)]


class Note(Record):
    """Something a person or a program knows. Secrets in it are masked before it is kept."""

    text: Text
    subjects: Subjects = Field((), description="what it is about, such as file:src/prices.py")
    agent: AgentName | None = None
    importance: Probability = 0.5


class Retrieve(Record):
    text: Annotated[str, Field(max_length=LONGEST_TEXT)] = Field("", description="what memories are to be like")
    subjects: Subjects = Field((), description="what they are to be about")
    kinds: tuple[Kind, ...] = Field((), max_length=len(Kind))
    topics: tuple[Topic, ...] = Field((), max_length=6)
    agent: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 10


_NOTE: Final[Body[Note]] = Body(Note, {"text": "Prices are rounded half up.", "subjects": ["file:src/prices.py"]})
_RETRIEVE: Final[Body[Retrieve]] = Body(Retrieve, {"text": "checkout times out", "limit": 5})


@router.post("/store", status_code=201, openapi_extra=_NOTE.described)
def store(
    request: Request,
    person: Annotated[Person, Depends(require(Role.REVIEWER))],
    note: Annotated[Note, Depends(_NOTE)],
) -> Noted:
    """Note something, to be recalled where it fits."""
    desk = desk_of(request)
    memory, text = desk.memory, fitting(note.text)
    made = Memory(
        project=memory.project,
        kind=Kind.SEMANTIC,
        topic="note",
        source=f"note:{state_key((note.agent, text))}",
        agent=note.agent,
        text=text,
        subjects=subjects(*note.subjects),
        about={"by": person.name},
        importance=note.importance,
        at=desk.clock(),
    )
    return Noted(id=made.id, new=keep(memory.memories, memory.embedder, [made]) == 1)


@router.post("/retrieve", openapi_extra=_RETRIEVE.described)
def retrieve(
    request: Request,
    _person: Annotated[Person, Depends(require(Role.VIEWER))],
    asked: Annotated[Retrieve, Depends(_RETRIEVE)],
) -> Retrieved:
    """Recent, similar and relevant memories, best first, each with why it was found."""
    desk = desk_of(request)
    memory = desk.memory
    wanted = Wanted(project=memory.project, kinds=asked.kinds, topics=asked.topics, agent=asked.agent)
    about = subjects(*asked.subjects)  # as they are kept: masked
    question = Question(wanted=wanted, text=fitting(asked.text) if asked.text else "", subjects=about)
    found = memory.recall.recall(question, asked.limit)
    memory.memories.note_use([each.memory.id for each in found], desk.clock())
    items = [Found(id=each.memory.id, memory=each.memory, score=each.score, why=each.why) for each in found]
    return Retrieved(items=tuple(items))


@router.post("/consolidate")
def consolidate(request: Request, _person: Annotated[Person, Depends(require(Role.OPERATOR))]) -> Consolidated:
    """Remember what was lived since the last time, make facts and procedures of it, and let go of what is over."""
    desk = desk_of(request)
    done = desk.memory.tend(desk.clock(), at_once=True)
    made = done.consolidated
    return Consolidated(
        remembered=done.remembered,
        made=0 if made is None else len(made.made),
        confirmed=0 if made is None else len(made.confirmed),
        let_go=0 if made is None else len(made.let_go),
        forgotten=len(done.forgotten.outdated) + len(done.forgotten.crowded_out),
    )
