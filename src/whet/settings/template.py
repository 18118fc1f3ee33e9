"""The commented block that `whet init` writes: every key with its meaning and default."""

import json
import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from whet.core.errors import WhetError
from whet.settings.keys import Key, keys, sections
from whet.settings.load import whet_table
from whet.settings.model import Settings
from whet.settings.problems import refusal

PREFIX: Final = "tool.whet"


def commented_toml(values: Mapping[str, Any] | None = None, prefix: str = PREFIX) -> str:
    """All settings with their defaults commented out, except for those in `values` (tables within tables).

    A default is commented with "#" alone and a remark with "# ", so that taking away "#" sets a key. Tables are
    not commented out: a key freed below one would otherwise end up in the table before it.
    """
    given = _checked(values or {})
    lines: list[str] = []
    for table, model in sections().items():
        heading = ".".join(part for part in (prefix, table) if part)
        lines += ["", f"[{heading}]"] if heading else []
        lines += [f"# {model.__doc__}"] if table else []
        chosen = given.get(table, {}) if table else given
        for key in keys():
            if key.table == table:
                lines += _key_lines(key, chosen)
    return "\n".join(lines).strip() + "\n"


def write_into(pyproject: Path, values: Mapping[str, Any] | None = None) -> Path:
    """Add the block to `pyproject`, or write whet.toml beside it when there is none; the file written.

    What is there stays as it is, byte for byte. Settings that exist already are never touched.
    """
    own = pyproject.with_name("whet.toml")
    if own.exists():
        raise WhetError(f"{own} exists already.", "Change it there, or delete it to start again.")
    if not pyproject.exists():
        _replace(own, commented_toml(values, prefix="").encode())
        return own
    if whet_table(pyproject) is not None:
        raise WhetError(
            f"{pyproject} has a table [tool.whet] already.", "Change it there, or delete it to start again."
        )
    _replace(pyproject, _appended(pyproject, commented_toml(values)))
    return pyproject


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return Settings.model_validate(dict(values)).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise refusal(error, lambda table: f"The new [{'.'.join((PREFIX, table)).rstrip('.')}]") from error


def _key_lines(key: Key, chosen: Mapping[str, Any]) -> Iterator[str]:
    remark = "" if key.used else " No effect yet."
    yield f"# {key.description} Allowed: {key.allowed}.{remark}"
    if key.name in chosen and chosen[key.name] is not None:
        yield f"{key.name} = {toml_value(chosen[key.name])}"
    elif key.default is not None and key.default != {}:
        yield f"#{key.name} = {toml_value(key.default)}"
    else:
        yield f"# Not set; for example: {key.name} = {toml_value(key.example)}"


def toml_value(value: object) -> str:
    match value:
        case Mapping():
            pairs = ", ".join(f"{_text(str(name))} = {toml_value(each)}" for name, each in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case list() | tuple():
            return f"[{', '.join(toml_value(each) for each in value)}]"
        case str():
            return _text(value)
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
    raise TypeError(f"no setting is of the type {type(value).__name__}")


def _text(value: str) -> str:
    # JSON escapes are TOML escapes, except that JSON leaves DEL as it is and TOML does not allow it.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _appended(pyproject: Path, block: str) -> bytes:
    before = pyproject.read_bytes()
    newline = b"\r\n" if b"\r\n" in before else b"\n"
    gap = b"" if not before else newline if before.endswith(b"\n") else newline * 2
    after = before + gap + block.encode().replace(b"\n", newline)
    try:
        tomllib.loads(after.decode())
    except tomllib.TOMLDecodeError as error:
        raise WhetError(
            f"{pyproject} cannot take a table [tool.whet]: {error}.",
            "Write `tool` as tables such as [tool.name], or put the settings into whet.toml.",
        ) from error
    return after


def _replace(file: Path, content: bytes) -> None:
    """Write the whole file or nothing: a crash leaves the old one."""
    target = file.resolve()
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".whet-")
    written = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, written)
        else:
            written.chmod(0o644)
        written.replace(target)
    except BaseException:
        written.unlink(missing_ok=True)
        raise
