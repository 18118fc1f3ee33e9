"""Everything the service knows, in memory. Routes are coroutines that never wait between reading and writing it, so
that one thread, the event loop's, sees every change whole and needs no lock."""

import itertools
import uuid
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from examples.api.answers import Refused
from examples.api.faults import planted
from examples.api.models import Book, Copy, Loan, Member, NewBook, NewCopy, NewLoan, NewNote, Note, Preferences

MOST_EXTENSIONS = 3
K = TypeVar("K")
V = TypeVar("V")


def today() -> date:
    return datetime.now(UTC).date()


def found(things: Mapping[K, V], key: K, name: str) -> V:
    if key not in things:
        raise Refused(404, f"No such {name}")
    return things[key]


class Library:
    def __init__(self) -> None:
        self.members: dict[int, Member] = {}
        self.passwords: dict[str, tuple[int, str]] = {}
        self.tokens: dict[str, int] = {}
        self.preferences: dict[int, Preferences] = {}
        self.books: dict[int, Book] = {}
        self.isbns: dict[str, int] = {}
        self.covers: dict[int, bytes] = {}
        self.copies: dict[int, Copy] = {}
        self.loans: dict[str, Loan] = {}
        self.lent: dict[int, str] = {}  # copy to its open loan
        self.notes: dict[str, dict[int, Note]] = {}
        self._numbers = itertools.count(1)

    def add_book(self, new: NewBook) -> Book:
        self._claim_isbn(new.isbn, None)
        book = Book(**new.model_dump(), id=next(self._numbers), copies=0, version=1)
        return self._keep_book(book)

    def change_book(self, book: Book, new: NewBook) -> Book:
        self._claim_isbn(new.isbn, book.id)
        del self.isbns[book.isbn]
        return self._keep_book(book.model_copy(update={**dict(new), "version": book.version + 1}))

    def remove_book(self, book: Book) -> None:
        copies = [copy for copy in self.copies.values() if copy.book_id == book.id]
        if any(copy.id in self.lent for copy in copies):
            raise Refused(409, "A copy of the book is lent")
        for copy in copies:
            del self.copies[copy.id]
        self.covers.pop(book.id, None)
        del self.isbns[book.isbn], self.books[book.id]

    def add_copy(self, book: Book, new: NewCopy) -> Copy:
        copy = Copy(**new.model_dump(), id=next(self._numbers), book_id=book.id, lent=False)
        self.copies[copy.id] = copy
        self.books[book.id] = book.model_copy(update={"copies": book.copies + 1, "version": book.version + 1})
        return copy

    def add_member(self, name: str, password: str, rest: Mapping[str, object]) -> Member:
        if name in self.passwords:
            raise Refused(409, "The username is taken")
        member = Member.model_validate(
            {**rest, "username": name, "id": next(self._numbers), "joined_on": today().isoformat()}
        )
        self.members[member.id] = member
        self.passwords[name] = member.id, password
        return member

    def remove_member(self, member: Member) -> None:
        if any(self.loans[loan].member_id == member.id for loan in self.lent.values()):
            raise Refused(423 if planted("locked-member") else 409, "The member has open loans")
        self.tokens = {token: owner for token, owner in self.tokens.items() if owner != member.id}
        self.passwords.pop(member.username, None)
        self.preferences.pop(member.id, None)
        if not planted("member-stays"):
            del self.members[member.id]

    def lend(self, new: NewLoan) -> Loan:
        found(self.members, new.member_id, "member")
        copy = found(self.copies, new.copy_id, "copy")
        if copy.id in self.lent:
            raise Refused(409, "The copy is lent")
        loan = Loan(
            id=str(uuid.uuid4()), member_id=new.member_id, copy_id=copy.id, title=self.books[copy.book_id].title,
            lent_on=today().isoformat(), due_on=(today() + timedelta(days=new.days)).isoformat(), returned_on=None,
            extensions=0,
        )  # fmt: skip
        self.loans[loan.id], self.lent[copy.id], self.notes[loan.id] = loan, loan.id, {}
        self.copies[copy.id] = copy.model_copy(update={"lent": True})
        return loan

    def take_back(self, loan: Loan) -> Loan:
        if loan.returned_on is not None and not planted("returned-twice"):
            raise Refused(409, "The loan was returned before")
        del self.lent[loan.copy_id]
        self.copies[loan.copy_id] = self.copies[loan.copy_id].model_copy(update={"lent": False})
        self.loans[loan.id] = loan.model_copy(update={"returned_on": today().isoformat()})
        return self.loans[loan.id]

    def extend(self, loan: Loan, days: int) -> Loan:
        if loan.returned_on is not None or loan.extensions >= MOST_EXTENSIONS:
            raise Refused(409, "The loan was returned, or extended too often")
        due = date.fromisoformat(loan.due_on) + timedelta(days=days)
        self.loans[loan.id] = loan.model_copy(update={"due_on": due.isoformat(), "extensions": loan.extensions + 1})
        return self.loans[loan.id]

    def add_note(self, loan: Loan, new: NewNote) -> Note:
        note = Note(**new.model_dump(), id=next(self._numbers))
        if not (planted("pinned-note") and note.pinned):
            self.notes[loan.id][note.id] = note
        return note

    def _claim_isbn(self, isbn: str, owner: int | None) -> None:
        if self.isbns.get(isbn, owner) != owner:
            raise Refused(409, "A book with this ISBN exists")

    def _keep_book(self, book: Book) -> Book:
        self.books[book.id], self.isbns[book.isbn] = book, book.id
        return book


library = Library()
