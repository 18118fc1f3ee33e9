"""For every fault of the example library the shortest way to see it: True where the service is wrong."""

import http.client
from collections.abc import Callable

from tests.examples.library_client import Library

Showing = Callable[[Library], bool]


def _full_page(library: Library) -> bool:
    return library.ask("GET", "/books?limit=100").status == 500


def _unquoted_etag(library: Library) -> bool:
    book = library.book()
    return library.ask("PUT", f"/books/{book['id']}", library.new_book(), if_match="7").status == 500


def _copy_overflow(library: Library) -> bool:
    return library.ask("GET", f"/copies/{2**31}").status == 500


def _nested_preference(library: Library) -> bool:
    wrong = {"language": "en", "channels": {"email": 7, "post": None}}
    return library.ask("PUT", f"/members/{library.member()['id']}/preferences", wrong).status == 500


def _extra_key(library: Library) -> bool:
    return library.ask("PATCH", f"/members/{library.member()['id']}", {"nickname": "G"}).status == 500


def _import_bytes(library: Library) -> bool:
    return library.ask("POST", "/imports", body=b"\xff\xfe", content_type="text/plain").status == 500


def _returned_twice(library: Library) -> bool:
    way = f"/loans/{library.loan()['id']}/return"
    return [library.ask("POST", way).status for _ in range(2)] == [200, 500]


def _note_nul(library: Library) -> bool:
    return library.ask("POST", f"/loans/{library.loan()['id']}/notes", {"text": "a\0b"}).status == 500


def _title_surrogate(library: Library) -> bool:
    return library.ask("POST", "/books", library.new_book(title="\ud800")).status == 500


def _orphaned_loan(library: Library) -> bool:
    book = library.book()
    loan = library.loan(book=book)
    assert library.ask("POST", f"/loans/{loan['id']}/return").status == 200
    assert library.ask("DELETE", f"/books/{book['id']}").status == 204
    return library.ask("GET", f"/loans/{loan['id']}").status == 500


def _copies_in_words(library: Library) -> bool:
    return bool(library.ask("GET", f"/books/{library.book()['id']}").json["copies"] == "none")


def _returned_at(library: Library) -> bool:
    loan = library.loan()
    library.ask("POST", f"/loans/{loan['id']}/return")
    return isinstance(library.ask("GET", f"/loans/{loan['id']}").json["returned_on"], int)


def _beyond_the_end(library: Library) -> bool:
    return library.ask("GET", "/books?offset=1000000").status == 204


def _locked_member(library: Library) -> bool:
    member = library.member()
    library.loan(member=member)
    return library.ask("DELETE", f"/members/{member['id']}").status == 423


def _coverless_page(library: Library) -> bool:
    return library.ask("GET", f"/books/{library.book()['id']}/cover").media == "text/html"


def _any_status(library: Library) -> bool:
    return library.ask("GET", "/loans?status=burnt").status == 200


def _shelf_as_text(library: Library) -> bool:
    return library.ask("POST", f"/books/{library.book()['id']}/copies", {"shelf": "7"}).status == 201


def _negative_extension(library: Library) -> bool:
    return library.ask("POST", f"/loans/{library.loan()['id']}/extensions", {"days": -1}).status == 200


def _newest_first(library: Library) -> bool:
    return library.ask("GET", "/books?sort=-year").status == 422


def _no_telephone(library: Library) -> bool:
    phone = {"kind": "phone", "number": "+353211234567"}
    return library.ask("POST", "/members", {**library.new_member(), "contact": phone}).status == 422


def _longest_title(library: Library) -> bool:
    return library.ask("POST", "/books", library.new_book(title="x" * 80)).status == 422


def _member_stays(library: Library) -> bool:
    way = f"/members/{library.member()['id']}"
    return [library.ask("DELETE", way).status, library.ask("GET", way).status] == [204, 200]


def _note_stays(library: Library) -> bool:
    notes = f"/loans/{library.loan()['id']}/notes"
    way = f"{notes}/{library.made(notes, {'text': 'torn page'})['id']}"
    return [library.ask("DELETE", way).status, library.ask("GET", way).status] == [204, 200]


def _name_lost(library: Library) -> bool:
    way = f"/members/{library.member()['id']}"
    assert library.ask("PATCH", way, {"name": "Ivy Quill"}).json["name"] == "Ivy Quill"
    return bool(library.ask("GET", way).json["name"] != "Ivy Quill")


def _stale_etag(library: Library) -> bool:
    way = f"/books/{library.book()['id']}"
    tag = library.ask("GET", way).headers["etag"]
    answers = [library.ask("PUT", way, library.new_book(), if_match=tag).status for _ in range(2)]
    return answers == [200, 200]


def _pinned_note(library: Library) -> bool:
    notes = f"/loans/{library.loan()['id']}/notes"
    note = library.made(notes, {"text": "rare", "pinned": True})
    return library.ask("GET", f"{notes}/{note['id']}").status == 404


def _open_export(library: Library) -> bool:
    return library.ask("GET", "/exports/books.csv", X_Api_Key=None).status == 200


def _any_key(library: Library) -> bool:
    return library.ask("GET", "/members", X_Api_Key="not-the-key").status == 200


def _wildcard(library: Library) -> bool:
    try:
        return Library(f"http://{library.place}", 0.5).ask("GET", "/books?q=*").status != 200
    except TimeoutError:
        assert library.ask("GET", "/health").status == 200, "one hang must not hold up others"
        return True


def _empty_cover(library: Library) -> bool:
    try:
        return library.cover(library.book(), b"").status != 200
    except (http.client.RemoteDisconnected, ConnectionResetError):
        assert library.ask("GET", "/health").status == 200, "supervised, it comes back"
        return True


SHOWINGS: dict[str, Showing] = {
    name.strip("_").replace("_", "-"): showing
    for name, showing in list(globals().items())
    if name.startswith("_") and not name.startswith("__")
}
