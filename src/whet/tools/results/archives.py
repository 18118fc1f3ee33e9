"""Zip archives, read in place: nothing is ever unpacked onto the disk."""

import stat
import struct
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from whet.tools.results.documents import LARGEST_FILE_BYTES, MIB, Document, check_ratio
from whet.tools.results.refusing import bad

# The directory of an archive is read at once; this much has room for 100,000 files.
LARGEST_DIRECTORY_BYTES = 16 * MIB
LARGEST_UNPACKED_BYTES = 4 * LARGEST_FILE_BYTES
_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x06"
_NO_DATE = (1980, 1, 1)


def is_archive(head: bytes) -> bool:
    return head.startswith(_STARTS)


def open_archive(path: Path) -> zipfile.ZipFile:
    if path.stat().st_size > LARGEST_UNPACKED_BYTES or _directory_bytes(path) > LARGEST_DIRECTORY_BYTES:
        raise bad(str(path), "is an archive with too many files", "Make several archives of it.")
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, struct.error) as error:
        raise bad(str(path), "is a damaged or cut-off zip archive", "Download it again.") from error


def members(path: Path, archive: zipfile.ZipFile) -> Iterator[Document]:
    """The files in it; the whole archive is refused when one of them would lie outside, or when it would burst."""
    found = [info for info in archive.infolist() if not info.filename.endswith("/")]
    _check(path, found)
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    for info in found:
        inside = PurePosixPath(info.filename)
        yield Document(
            name=f"{path}!{inside}",
            directory=f"{path}!{inside.parent}",
            modified=_modified(info) or written,
            given=False,
            stored_bytes=info.compress_size,
            compressed=True,
            open=partial(_open, archive, info),
        )


def _open(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    try:
        return cast("BinaryIO", archive.open(info))
    except (OSError, struct.error, UnicodeDecodeError) as error:
        # A damaged directory leads to places that are not there.
        raise zipfile.BadZipFile(info.filename) from error


def _check(path: Path, found: list[zipfile.ZipInfo]) -> None:
    names: set[str] = set()
    for info in found:
        if _leads_outside(info):
            raise bad(str(path), f"holds a file that would lie outside of it ({info.filename!r})", "Do not trust it.")
        if info.filename in names:
            raise bad(str(path), f"holds two files of one name ({info.filename!r})", "Make it anew.")
        names.add(info.filename)
    total = sum(info.file_size for info in found)
    if total > LARGEST_UNPACKED_BYTES:
        raise bad(
            str(path), f"unpacks to more than {LARGEST_UNPACKED_BYTES // MIB} MiB", "Make several archives of it."
        )
    check_ratio(str(path), total, path.stat().st_size)


def _leads_outside(info: zipfile.ZipInfo) -> bool:
    name = info.filename.replace("\\", "/")
    absolute = name.startswith("/") or (len(name) > 1 and name[1] == ":")
    return not name or absolute or ".." in name.split("/") or stat.S_ISLNK(info.external_attr >> 16)


def _modified(info: zipfile.ZipInfo) -> datetime | None:
    if info.date_time[:3] == _NO_DATE:
        return None
    try:
        return datetime(*info.date_time, tzinfo=UTC)
    except ValueError:
        return None


def _directory_bytes(path: Path) -> int:
    """How long the archive's directory claims to be, before anything reads it; 0 when there is no such claim."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - (1 << 16) - 22))
        tail = file.read()
    end = tail.rfind(_END)
    claimed = _number(tail, end + 12, "<I") if end >= 0 else 0
    if claimed == 0xFFFFFFFF:
        large = tail.rfind(_END_64)
        claimed = _number(tail, large + 40, "<Q") if large >= 0 else 0
    return claimed


def _number(data: bytes, offset: int, form: str) -> int:
    enough = len(data) >= offset + struct.calcsize(form)
    return int(struct.unpack_from(form, data, offset)[0]) if enough else 0
