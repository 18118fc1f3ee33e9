"""The faults that can be planted, and which of them are (`FAULTS=all|none|name,name`).

What is wrong stands where it would stand in a real service, behind `planted(name)`: mostly a check that is left out.
Kinds are the words of `whet.skills.api.faults.Kind`; the service itself needs nothing of Whet.
"""

import os
from typing import Literal, NamedTuple

Ease = Literal["easy", "medium", "hard"]


class Planted(NamedTuple):
    name: str
    kind: str
    operation: str
    trigger: str
    ease: Ease


CATALOGUE = (
    Planted("full-page", "server-error", "GET /books", "`limit` is 100, the most that is allowed", "easy"),
    Planted("unquoted-etag", "server-error", "PUT /books/{book_id}", "`If-Match` without quotes", "easy"),
    Planted("copy-overflow", "server-error", "GET /copies/{copy_id}", "an id beyond 2147483647", "easy"),
    Planted("nested-preference", "server-error", "PUT /members/{member_id}/preferences",
            "`channels`, or something in it, has the wrong type: used before it is validated", "medium"),
    Planted("extra-key", "server-error", "PATCH /members/{member_id}", "a key nobody declared", "medium"),
    Planted("import-bytes", "server-error", "POST /imports", "a body that is not UTF-8", "medium"),
    Planted("returned-twice", "server-error", "POST /loans/{loan_id}/return",
            "the loan was returned before", "medium"),
    Planted("note-nul", "server-error", "POST /loans/{loan_id}/notes", "a NUL character in `text`", "hard"),
    Planted("title-surrogate", "server-error", "POST /books", "a lone surrogate in `title`", "hard"),
    Planted("orphaned-loan", "server-error", "GET /loans/{loan_id}",
            "the loan was returned, then its book deleted", "hard"),
    Planted("copies-in-words", "schema-violation", "GET /books/{book_id}",
            "the book has no copies: `copies` is \"none\"", "easy"),
    Planted("returned-at", "schema-violation", "GET /loans/{loan_id}",
            "the loan was returned: `returned_on` is a number of seconds", "hard"),
    Planted("beyond-the-end", "undocumented-status", "GET /books", "`offset` beyond the last book: 204", "easy"),
    Planted("locked-member", "undocumented-status", "DELETE /members/{member_id}",
            "the member has open loans: 423 instead of 409", "hard"),
    Planted("coverless-page", "undocumented-content-type", "GET /books/{book_id}/cover",
            "the book has no cover: the 404 is an HTML page", "easy"),
    Planted("any-status", "invalid-input-accepted", "GET /loans", "a `status` that is not in the enum", "easy"),
    Planted("shelf-as-text", "invalid-input-accepted", "POST /books/{book_id}/copies",
            "`shelf` is a string of digits", "medium"),
    Planted("negative-extension", "invalid-input-accepted", "POST /loans/{loan_id}/extensions",
            "`days` is below 1", "medium"),
    Planted("newest-first", "valid-input-refused", "GET /books", "`sort` is \"-year\"", "easy"),
    Planted("no-telephone", "valid-input-refused", "POST /members", "`contact` is of the kind \"phone\"", "medium"),
    Planted("longest-title", "valid-input-refused", "POST /books",
            "`title` has 80 characters, the most that is allowed", "medium"),
    Planted("member-stays", "read-after-delete", "DELETE /members/{member_id}",
            "any member: GET still finds it", "easy"),
    Planted("note-stays", "read-after-delete", "DELETE /loans/{loan_id}/notes/{note_id}",
            "any note: GET still finds it", "medium"),
    Planted("name-lost", "lost-update", "PATCH /members/{member_id}",
            "`name` is changed: answered so, not kept", "easy"),
    Planted("stale-etag", "lost-update", "PUT /books/{book_id}",
            "`If-Match` names an older version: accepted instead of 412", "hard"),
    Planted("pinned-note", "create-without-read", "POST /loans/{loan_id}/notes",
            "`pinned` is true: answered, not kept", "medium"),
    Planted("open-export", "missing-auth", "GET /exports/books.csv", "no credentials at all", "easy"),
    Planted("any-key", "missing-auth", "GET /members", "an API key that is wrong", "medium"),
    Planted("wildcard", "timeout", "GET /books", "`q` contains `*` or `%`: 30 seconds without an answer", "medium"),
    Planted("empty-cover", "crash", "PUT /books/{book_id}/cover", "`file` is empty: the process exits", "medium"),
)  # fmt: skip


def chosen(names: str) -> frozenset[str]:
    """The faults named by `all`, `none` or a list with commas; one that does not exist is refused."""
    known = frozenset(fault.name for fault in CATALOGUE)
    wanted = {"all": known, "none": frozenset[str]()}.get(names) or frozenset(filter(None, names.split(",")))
    if unknown := wanted - known - {"none"}:
        raise SystemExit(f"No such fault: {', '.join(sorted(unknown))}. Known: {', '.join(sorted(known))}.")
    return wanted & known


_PLANTED = chosen(os.environ.get("FAULTS", "none"))
# The next version of the contract: a required parameter more, an operation less, a type changed.
BREAKING = os.environ.get("BREAKING", "") not in ("", "0")


def planted(name: str) -> bool:
    return name in _PLANTED
