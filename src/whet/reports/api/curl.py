"""A request as a line for a shell, that sends the same bytes.

Bash quoting: what cannot stand in plain quotes is written as $'…', and bodies that are no text go through printf.
A hidden credential becomes a variable, so that the line still works for whoever has it; as a field of a query it is
handed to curl apart, which writes it as an address wants it.
"""

import re
import shlex
from dataclasses import replace
from urllib.parse import unquote

from whet.reports.api.redaction import HIDDEN
from whet.tools.http.messages import Request

LONGEST_ARGUMENT_BYTES = 60_000  # the system refuses arguments of 128 kB; printf is part of the shell and has no limit
_EXPECTS_BYTES = 1000  # above it curl asks first whether it may send, which many services do not answer
_HIDDEN_FIELD = re.compile(rf"[\w%.~-]+={re.escape(HIDDEN)}", re.ASCII)
_PLAIN_TARGET = re.compile(r"/[A-Za-z0-9\-._~!$&'()*+,;=:@%/?\[\]{}|\"<>^`\\]*")


def curl_line(request: Request, base_url: str) -> str:
    """`base_url` is scheme, host and port; the path is in the request's target."""
    request, fields = _without_fields(request)
    address = [*_fields(request, fields), *_address(request, base_url.rstrip("/"))]
    options = [*_method(request), *_headers(request), *_body(request), *address]
    return " ".join([*_piped(request), "curl", "-sS", "-i", *options])


def credential_variable(name: str) -> str:
    """Authorization → WHET_API_AUTHORIZATION: what holds the value of this header or field of a query, in lines and in
    written tests."""
    return "WHET_API_" + re.sub(r"[^A-Z0-9]", "_", unquote(name).upper())


def _without_fields(request: Request) -> tuple[Request, list[str]]:
    """The request without the fields of its query that are hidden, and the names of those. Where curl is handed fields
    apart it does away with the dots of a path, which may be the very point."""
    path, mark, query = request.target.partition("?")
    hidden = [field for field in query.split("&") if _HIDDEN_FIELD.fullmatch(field)]
    if not hidden or "/." in path or not _PLAIN_TARGET.fullmatch(request.target):
        return request, []
    rest = "&".join(field for field in query.split("&") if field not in hidden)
    return replace(request, target=path + mark * bool(rest) + rest), [field.partition("=")[0] for field in hidden]


def _fields(request: Request, names: list[str]) -> list[str]:
    """Without a body in the way that every curl knows; else in the one that came with 7.87."""
    how = "--data-urlencode" if request.body is None else "--url-query"
    told = [f'{shell_quoted(f"{name}=".encode())}"${credential_variable(name)}"' for name in names]
    return [*(["-G"] if names and request.body is None else []), *(part for one in told for part in (how, one))]


def _method(request: Request) -> list[str]:
    if request.method == "HEAD" and request.body is None:
        return ["-I"]
    return [] if request.method == "GET" and request.body is None else ["-X", shell_quoted(request.method.encode())]


def _headers(request: Request) -> list[str]:
    named = {name.lower() for name, _ in request.headers}
    lines = [_header(name, value) for name, value in request.headers]
    if request.body is not None and "content-type" not in named:
        lines.append("'Content-Type:'")  # curl would call it a form
    if len(request.body or b"") > _EXPECTS_BYTES and "expect" not in named:
        lines.append("Expect:")
    return [part for line in lines for part in ("-H", line)]


def _header(name: str, value: str) -> str:
    if HIDDEN in value:
        return f'"{name}: ${credential_variable(name)}"'
    if not value.strip():
        return shell_quoted(f"{name};".encode())  # with a colon curl would leave the header out
    return shell_quoted(f"{name}: {value}".encode("latin-1", "replace"))  # as the client sends it


def _body(request: Request) -> list[str]:
    if request.body is None:
        return []
    if _is_piped(request.body):
        return ["--data-binary", "@-"]
    return ["--data-raw", _filled(request.body)]


def _piped(request: Request) -> list[str]:
    if request.body is None or not _is_piped(request.body):
        return []
    return ["printf", f"'{''.join(map(_printf_byte, request.body))}'", "|"]


def _is_piped(body: bytes) -> bool:
    """A NUL ends an argument, and bytes that are no text are hard to read as one."""
    if len(body) > LONGEST_ARGUMENT_BYTES or b"\0" in body:
        return True
    try:
        body.decode()
    except UnicodeDecodeError:
        return True
    return False


def _address(request: Request, base_url: str) -> list[str]:
    if _PLAIN_TARGET.fullmatch(request.target):
        kept = ["--globoff"] if re.search(r"[\[\]{}]", request.target) else []
        kept += ["--path-as-is"] if "/." in request.target else []
        return [*kept, _filled((base_url + request.target).encode())]
    target = request.target.encode("utf-8", "surrogateescape")
    return ["--request-target", _filled(target), shell_quoted(f"{base_url}/".encode())]


def _filled(argument: bytes) -> str:
    """With a variable wherever something is hidden: outside of plain quotes, so that the shell puts it in."""
    parts = argument.split(HIDDEN.encode())
    return '"$WHET_API_SECRET"'.join(shell_quoted(part) if part or len(parts) == 1 else "" for part in parts)


def shell_quoted(argument: bytes) -> str:
    text = argument.decode("utf-8", "surrogateescape")
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(map(_quoted_character, text)) + "'"


def _quoted_character(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if character.isprintable():
        return character
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    return named or "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))


def _printf_byte(byte: int) -> str:
    """Octal with three digits: the one escape that every printf knows."""
    character = chr(byte)
    if character == "%":
        return "%%"
    return character if character.isprintable() and byte < 128 and character not in "\\'" else f"\\{byte:03o}"
