"""What was noted about a loan."""

from examples.api.access import SignedIn
from examples.api.answers import READING, WRITING, documented
from examples.api.bodies import Json
from examples.api.faults import planted
from examples.api.fields import WrittenId
from examples.api.library import found, library
from examples.api.loans import LoanId
from examples.api.models import NewNote, Note
from fastapi import APIRouter, Response

router = APIRouter(prefix="/loans/{loan_id}/notes", tags=["notes"], dependencies=[SignedIn])


@router.post("", status_code=201, response_model=Note, responses=documented(404, *WRITING), dependencies=[Json])
async def add_note(loan_id: LoanId, new: NewNote) -> Note:
    return library.add_note(found(library.loans, loan_id, "loan"), new)


@router.get("/{note_id}", response_model=Note, responses=documented(404, *READING))
async def read_note(loan_id: LoanId, note_id: WrittenId) -> Note:
    return found(found(library.notes, loan_id, "loan"), note_id, "note")


@router.put("/{note_id}", response_model=Note, responses=documented(404, *WRITING), dependencies=[Json])
async def change_note(loan_id: LoanId, note_id: WrittenId, new: NewNote) -> Note:
    note = await read_note(loan_id, note_id)
    library.notes[loan_id][note_id] = note.model_copy(update=dict(new))
    return library.notes[loan_id][note_id]


@router.delete("/{note_id}", status_code=204, responses=documented(404, *READING))
async def remove_note(loan_id: LoanId, note_id: WrittenId) -> Response:
    await read_note(loan_id, note_id)
    if not planted("note-stays"):
        del library.notes[loan_id][note_id]
    return Response(status_code=204)
