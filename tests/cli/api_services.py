"""Services for `whet api` as people start it, and the command itself."""

import json
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.cli.command_line import whet
from tests.skills.api.small_service import Answer, Document, Heard, document, does, in_path, record

from whet.cli.main import main

SECRET = "s3cret-t0ken-0f-mine"  # noqa: S105 - of these services alone
PASSWORD = "hunter22-hunter22"  # noqa: S105

DESK = document(
    {
        "/notes": {
            "get": does("200"),
            "post": does(
                "201", "422", body=record(("text",), text={"type": "string", "maxLength": 30}), tags=["writing"]
            ),
        },
        "/notes/{id}": {
            "get": does("200", "404", parameters=(in_path("id"),), operationId="readNote"),
            "delete": does("204", "404", parameters=(in_path("id"),)),
        },
    },
    title="Desk",
)


class Desk:
    """Keeps notes. `broken`: reading one fails, and tells everything it was sent."""

    def __init__(self, broken: bool = True, first: int = 1000) -> None:
        self.broken, self.last = broken, first
        self.notes: dict[int, str] = {}

    def __call__(self, heard: Heard) -> Answer:
        if heard.path == "/notes":
            return self.all(heard)
        given = heard.path.rpartition("/")[2]
        if not given.isdecimal() or int(given) not in self.notes:
            return 404, {"detail": "no such note"}
        if heard.method == "DELETE":
            del self.notes[int(given)]
            return 204, None
        if self.broken:
            said = " ".join([*heard.headers.values(), *(one for many in heard.query.values() for one in many)])
            return 500, {"error": "KeyError: 'shelf'", "you_said": said.replace("Bearer ", "")}
        return 200, {"id": int(given)}

    def all(self, heard: Heard) -> Answer:
        if heard.method == "GET":
            return 200, [{"id": one} for one in self.notes]
        text = heard.body.get("text") if isinstance(heard.body, dict) else None
        if not isinstance(text, str) or len(text) > 30:
            return 422, {"detail": "text"}
        self.last += 1
        self.notes[self.last] = text
        return 201, {"id": self.last}


def api_process(project: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, what stands on stdout, what stands on stderr."""
    ran = whet("api", *arguments, "--project", project, cwd=project)
    return ran.returncode, ran.stdout, ran.stderr


def api(project: Path, *arguments: str) -> tuple[int, str, str]:
    """The same command within this process, where it starts in no time."""
    out, err = StringIO(), StringIO()
    given = ["whet", "api", *arguments, "--project", str(project)]
    with patch.object(sys, "argv", given), chdir(project), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
    return code, out.getvalue(), err.getvalue()


def told(project: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    code, out, err = api(project, *arguments, "--format", "json")
    assert code in (0, 1), err
    report: dict[str, Any] = json.loads(out)
    return code, report


def changed(paths: Document) -> Document:
    return {**DESK, "paths": {**DESK["paths"], **paths}}
