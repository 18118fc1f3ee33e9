"""Does every real OpenAPI or Swagger document read, or get refused with a sentence? No crash, no hang.

Give directories, files and archives (.zip, .whl, .tar.gz, .tgz) with documents; none are kept with the project:

    python benchmarks/api_corpus.py build/corpus --limit 20 --json build/api_corpus.json

Each document is read in a process of its own making that is ended when the limit passes; its schemas are flattened and
compiled, and it is compared with itself, where no change may be found.
"""

import argparse
import hashlib
import json
import re
import sys
import tarfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from whet.core.errors import WhetError
from whet.skills.api.contract.comparing import compare
from whet.skills.api.contract.model import Contract
from whet.skills.api.contract.reading import read_contract
from whet.skills.api.contract.schemas import Schemas

SUFFIXES = (".json", ".yaml", ".yml")
LOOKS_LIKE_ONE = re.compile(rb"""^\s*\{?\s*["']?(openapi|swagger)["']?\s*:\s*["']?\d""", re.MULTILINE)
ANYWHERE_IN_JSON = re.compile(rb"""[{,]\s*"(openapi|swagger)"\s*:\s*"?\d""")


@dataclass(frozen=True, slots=True)
class Read:
    name: str
    size_bytes: int
    verdict: str  # read, refused, crash, hang, wrong
    reason: str = ""
    operations: int = 0
    schemas: int = 0
    notes: int = 0
    uncompiled: int = 0
    seconds: float = 0.0


def documents(given: Path) -> Iterator[tuple[str, bytes]]:
    if given.is_dir():
        for path in sorted(given.rglob("*")):
            if path.is_file():
                yield from documents(path)
    elif given.name.endswith((".zip", ".whl")):
        with zipfile.ZipFile(given) as archive:
            yield from ((f"{given.name}!{one}", archive.read(one)) for one in archive.namelist() if _fits(one))
    elif given.name.endswith((".tar.gz", ".tgz")):
        with tarfile.open(given) as archive:
            for member in archive:
                if _fits(member.name) and (content := archive.extractfile(member)) is not None:
                    yield f"{given.name}!{member.name}", content.read()
    elif _fits(given.name):
        yield str(given), given.read_bytes()


def _fits(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def is_document(text: bytes) -> bool:
    return bool(LOOKS_LIKE_ONE.search(text) or ANYWHERE_IN_JSON.search(text))


def examine(name: str, text: bytes) -> Read:
    began = time.perf_counter()
    try:
        contract = read_contract(text, name)
    except WhetError as error:
        return Read(name, len(text), "refused", str(error).replace(name, "…"), seconds=time.perf_counter() - began)
    uncompiled = use(contract)
    changes = compare(contract, contract)
    verdict, reason = ("wrong", f"differs from itself: {changes[0].sentence}") if changes else ("read", "")
    named = len(contract.document["components"]["schemas"])
    seconds = time.perf_counter() - began
    counts = (len(contract.operations), named, len(contract.notes), uncompiled)
    return Read(name, len(text), verdict, reason, *counts, seconds=seconds)


def use(contract: Contract) -> int:
    """Flatten and compile everything; how many notes that gave."""
    schemas = Schemas(contract)
    for operation in contract.operations:
        for body in operation.bodies:
            schemas.merged(body.schema)
            schemas.errors(body.schema, {"id": 1}, direction="request")
        for answer in operation.answers:
            for schema in answer.contents.values():
                if schema is not None:
                    schemas.merged(schema)
                    schemas.errors(schema, {"id": 1}, direction="response")
    return len(schemas.notes)


def serve(pipe: Connection) -> None:
    while (task := pipe.recv()) is not None:
        name, text = task
        try:
            pipe.send(examine(name, text))
        except BaseException as error:  # whatever it is, it is what this looks for
            pipe.send(Read(name, len(text), "crash", f"{type(error).__name__}: {error}"[:300]))


class Examiner:
    """One process at a time; a document that outlasts the limit costs it its life."""

    def __init__(self, limit_seconds: float) -> None:
        self._limit_seconds = limit_seconds
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def examine(self, name: str, text: bytes) -> Read:
        self._pipe.send((name, text))
        try:
            if self._pipe.poll(self._limit_seconds):
                answer: Read = self._pipe.recv()
                return answer
            verdict = Read(name, len(text), "hang", f"more than {self._limit_seconds} s")
        except EOFError:
            verdict = Read(name, len(text), "crash", "the process died")
        self.close()
        self._start()
        return verdict

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def run(given: list[Path], limit_seconds: float) -> Iterator[Read]:
    examiner = Examiner(limit_seconds)
    seen: set[bytes] = set()
    for path in given:
        for name, text in documents(path):
            digest = hashlib.sha256(text).digest()
            if digest not in seen and is_document(text):
                seen.add(digest)
                yield examiner.examine(name, text)
    examiner.close()


def show(reads: list[Read]) -> None:
    verdicts = Counter(one.verdict for one in reads)
    print(f"{len(reads)} different documents: " + ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common()))
    print(f"{sum(one.operations for one in reads)} operations, {sum(one.schemas for one in reads)} named schemas, "
          f"{sum(1 for one in reads if one.notes)} documents with notes, "
          f"{sum(1 for one in reads if one.uncompiled)} with schemas that do not compile")  # fmt: skip
    for one in reads:
        if one.verdict not in ("read", "refused"):
            print(f"  {one.verdict}: {one.name}: {one.reason}")
    print("refused because")
    for reason, often in Counter(one.reason for one in reads if one.verdict == "refused").most_common(40):
        print(f"  {often:4} {reason[:200]}")
    print("slowest")
    for one in sorted(reads, key=lambda each: -each.seconds)[:8]:
        print(f"  {one.seconds:6.2f} s {one.size_bytes / 1e6:5.1f} MB {one.operations:5} operations {one.name[-80:]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("given", nargs="+", type=Path)
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for one document")
    parser.add_argument("--json", type=Path, help="write every verdict here")
    options = parser.parse_args()
    reads = list(run(options.given, options.limit))
    show(reads)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps([asdict(one) for one in reads], indent=1), encoding="utf-8")
    return 1 if any(one.verdict not in ("read", "refused") for one in reads) else 0


if __name__ == "__main__":
    sys.exit(main())
