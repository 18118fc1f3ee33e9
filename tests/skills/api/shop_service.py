"""A small shop for tests of the second run: shelves hold boxes, both with ids that nobody can guess."""

import random
import re
from typing import Any

from tests.skills.api.small_service import Answer, Heard, contract, does, in_path, record

TEXT = {"type": "string"}
SHOP = contract({
    "/shelves": {"post": does("201", "422", body=record(("name",), name=TEXT)), "get": does("200")},
    "/shelves/{shelf_id}": {
        "get": does("200", "404", parameters=(in_path("shelf_id", "string"),)),
        "delete": does("204", "404", parameters=(in_path("shelf_id", "string"),)),
    },
    "/shelves/{shelf_id}/boxes": {
        "post": does("201", "404", "422", parameters=(in_path("shelf_id", "string"),),
                     body=record(("label",), label=TEXT)),
    },
    "/shelves/{shelf_id}/boxes/{box_id}": {
        "get": does("200", "404", parameters=(in_path("shelf_id", "string"), in_path("box_id", "string"))),
        "put": does("200", "404", "422", parameters=(in_path("shelf_id", "string"), in_path("box_id", "string")),
                    body=record(("label",), label=TEXT)),
    },
    "/sweep": {"post": does("200")},
})  # fmt: skip
_ID = r"(sh[0-9]{9})"
_BOX = r"(bx[0-9]{9})"


class Shop:
    """Ids differ from shop to shop. A label that is not ASCII fails. Sweeping ends every shelf."""

    def __init__(self, seed: int, broken: bool = True) -> None:
        self._rng, self.broken = random.Random(seed), broken
        self.shelves: dict[str, set[str]] = {}

    def __call__(self, heard: Heard) -> Answer:
        if heard.path == "/shelves":
            return self._shelf(heard.body) if heard.method == "POST" else (200, [{"id": one} for one in self.shelves])
        if heard.path == "/sweep":
            self.shelves.clear()
            return 200, {}
        found = re.fullmatch(rf"/shelves/{_ID}(/boxes(?:/{_BOX})?)?", heard.path)
        if found is None or found[1] not in self.shelves:
            return 404, {"detail": "no such shelf"}
        if found[2] is None:
            return self._one_shelf(heard.method, found[1])
        return self._boxes(heard, self.shelves[found[1]], found[3])

    def _shelf(self, body: Any) -> Answer:
        if not isinstance(body, dict) or not isinstance(body.get("name"), str):
            return 422, {"detail": "name"}
        made = f"sh{self._rng.randrange(10**8, 10**9)}"
        self.shelves[made] = set()
        return 201, {"id": made}

    def _one_shelf(self, method: str, shelf: str) -> Answer:
        if method == "DELETE":
            del self.shelves[shelf]
            return 204, None
        return 200, {"id": shelf}

    def _boxes(self, heard: Heard, boxes: set[str], box: str | None) -> Answer:
        if box is not None and box not in boxes:
            return 404, {"detail": "no such box"}
        if heard.method == "GET":
            return 200, {"id": box}
        label = heard.body.get("label") if isinstance(heard.body, dict) else None
        if not isinstance(label, str):
            return 422, {"detail": "label"}
        if self.broken and not label.isascii():
            return 500, {"error": "UnicodeEncodeError: ordinal not in range(128)"}
        made = box or f"bx{self._rng.randrange(10**8, 10**9)}"
        boxes.add(made)
        return (200 if box else 201), {"id": made}
