"""History files for tests: made from stores, taken apart and put together again, line by line."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

from whet.store import SqlStore
from whet.store.exchange import Extract, export_history

Piece = tuple[dict[str, Any], bytes]  # a line, and what follows it


def exported(store: SqlStore, extract: Extract | None = None) -> bytes:
    target = io.BytesIO()
    export_history(store.sheets, target, extract or Extract())
    return target.getvalue()


def file_of(store: SqlStore, path: Path) -> Path:
    path.write_bytes(exported(store))
    return path


def pieces(packed: bytes) -> list[Piece]:
    content = io.BytesIO(gzip.decompress(packed))
    found = []
    while told := content.readline():
        line = json.loads(told)
        sizes = {"sheet": line.get("results", 0) * (10 if line.get("nearness") else 9), "source": line.get("bytes", 0)}
        found.append((line, content.read(sizes.get(line["kind"], 0))))
    return found


def packed(given: list[Piece]) -> bytes:
    return gzip.compress(b"".join(json.dumps(line).encode() + b"\n" + raw for line, raw in given))
