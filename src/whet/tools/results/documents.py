"""One file's bytes, wherever they lie, read within bounds: a file decides neither memory nor time."""

import gzip
import zipfile
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import BinaryIO, NamedTuple, cast

from whet.tools.results.refusing import bad

MIB = 1 << 20
CHUNK_BYTES = MIB
LARGEST_FILE_BYTES = 1024 * MIB
# JSON and CSV are read whole.
LARGEST_WHOLE_BYTES = 64 * MIB
# Results shrink ten- to fifty-fold; from this size on, what shrinks more was made to burst.
SUSPECT_FROM_BYTES = 32 * MIB
LARGEST_RATIO = 200
_GZIP = b"\x1f\x8b"
_SPLIT = "Split it, or leave out captured output when it is written."
_UNPACK = "If you trust it, unpack it and give the files."


class Document(NamedTuple):
    name: str  # to be named to people: a path, or archive!member
    directory: str  # files of one directory may be of one run
    modified: datetime
    given: bool  # named on the command line: then it must be results
    stored_bytes: int
    compressed: bool
    open: Callable[[], BinaryIO]


def chunks(document: Document, size: int = CHUNK_BYTES) -> Iterator[bytes]:
    """The content, unpacked if it is gzip, as long as it stays within bounds."""
    if document.stored_bytes > LARGEST_FILE_BYTES:
        raise _too_large(document)
    try:
        with document.open() as stored:
            yield from _bounded(document, stored, size)
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise bad(document.name, "is damaged or cut off: it cannot be unpacked") from error
    except (NotImplementedError, RuntimeError) as error:
        raise bad(document.name, "is encrypted or packed in a way Whet does not read", _UNPACK) from error


def _bounded(document: Document, stored: BinaryIO, size: int) -> Iterator[bytes]:
    packed = stored.read(2) == _GZIP
    stored.seek(0)
    stream = cast("BinaryIO", gzip.GzipFile(fileobj=stored)) if packed else stored
    total = 0
    while block := stream.read(size):
        total += len(block)
        if total > LARGEST_FILE_BYTES:
            raise _too_large(document)
        if packed or document.compressed:
            check_ratio(document.name, total, document.stored_bytes)
        yield block


def check_ratio(name: str, unpacked_bytes: int, stored_bytes: int) -> None:
    if unpacked_bytes > SUSPECT_FROM_BYTES and unpacked_bytes > LARGEST_RATIO * stored_bytes:
        raise bad(name, f"unpacks to more than {LARGEST_RATIO} times its size, which results do not do", _UNPACK)


def whole(document: Document) -> bytes:
    content = bytearray()
    for block in chunks(document):
        content += block
        if len(content) > LARGEST_WHOLE_BYTES:
            raise bad(
                document.name, f"has more than {LARGEST_WHOLE_BYTES // MIB} MiB", "Export it in parts, run by run."
            )
    return bytes(content)


def head(document: Document) -> bytes:
    """Enough to tell what it is."""
    return next(chunks(document, 1 << 16), b"")


def _too_large(document: Document) -> Exception:
    return bad(document.name, f"has more than {LARGEST_FILE_BYTES // MIB} MiB", _SPLIT)
