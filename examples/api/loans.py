"""A copy in a member's hands, from lending to return."""

import time
from typing import Annotated, Any
from uuid import UUID

from examples.api.access import SignedIn
from examples.api.answers import READING, WRITING, documented
from examples.api.bodies import Json, Single
from examples.api.faults import planted
from examples.api.fields import Absent, Day, Limit, Offset, WrittenId
from examples.api.library import found, library
from examples.api.models import Extension, Loan, LoanPage, NewLoan
from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, Field, StringConstraints

router = APIRouter(prefix="/loans", tags=["loans"], dependencies=[SignedIn])
STATUSES = ["open", "returned"]


def _known_status(status: str) -> str:
    if status not in STATUSES and not planted("any-status"):
        raise ValueError("is neither open nor returned")
    return status


Status = Annotated[str, AfterValidator(_known_status), Field(json_schema_extra={"enum": STATUSES})]
LoanId = Annotated[
    str,
    StringConstraints(pattern="^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"),
    AfterValidator(lambda written: str(UUID(written))),
    Field(json_schema_extra={"format": "uuid"}),
]


@router.post("", status_code=201, response_model=Loan, responses=documented(404, 409, *WRITING), dependencies=[Json])
async def lend(new: NewLoan, response: Response) -> Loan:
    """404 if there is no such member or copy, 409 while the copy is lent."""
    loan = library.lend(new)
    response.headers["Location"] = f"/loans/{loan.id}"
    return loan


@router.get("", response_model=LoanPage, responses=documented(*READING), dependencies=[Single])
async def list_loans(
    status: Status | Absent = None,
    member_id: WrittenId | Absent = None,
    due_before: Day | Absent = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> LoanPage:
    loans = [
        loan
        for loan in library.loans.values()
        if status in (None, "returned" if loan.returned_on else "open")
        and member_id in (None, loan.member_id)
        and (due_before is None or loan.due_on < due_before)
    ]
    return LoanPage(items=loans[offset : offset + limit], total=len(loans))


@router.get("/{loan_id}", response_model=Loan, responses=documented(404, *READING))
async def read_loan(loan_id: LoanId) -> Any:
    loan = found(library.loans, loan_id, "loan")
    if planted("orphaned-loan"):
        loan = loan.model_copy(update={"title": library.books[library.copies[loan.copy_id].book_id].title})
    if planted("returned-at") and loan.returned_on:
        return JSONResponse({**loan.model_dump(), "returned_on": int(time.time())})
    return loan


@router.post("/{loan_id}/return", response_model=Loan, responses=documented(404, 409, *WRITING))
async def give_back(loan_id: LoanId) -> Loan:
    """409 if it was returned before."""
    return library.take_back(found(library.loans, loan_id, "loan"))


@router.post(
    "/{loan_id}/extensions", response_model=Loan, responses=documented(404, 409, *WRITING), dependencies=[Json]
)
async def extend(loan_id: LoanId, extension: Extension) -> Loan:
    """409 if it was returned, or extended three times."""
    return library.extend(found(library.loans, loan_id, "loan"), extension.days)
