"""A draft written as the request that goes over the wire.

Decisions where the specification leaves room:
- A path value never leaves its segment: slashes and dots-only values are percent-encoded. An empty value would name
  another route ("/items/"), so it is written as one space, which most services read as empty after stripping.
- `null` in a parameter or form field is the text "null"; an empty array or object is left out, as RFC 6570 has it.
- Reserved characters are always percent-encoded in parameters: services decode them, whatever `allowReserved` says.
- Control characters in header values become spaces (RFC 9110, 5.5), so that no value can start a header of its own;
  other text travels as UTF-8, given as one character a byte.
"""

import re
from functools import lru_cache

from whet.skills.api.contract.model import Json, Operation, Parameter
from whet.skills.api.exchange import NO_BODY, Draft
from whet.skills.api.writing_bodies import written_body
from whet.skills.api.writing_styles import Pairs, content_text, percent, query_pairs, styled
from whet.tools.http.messages import Headers, Request

_ACCEPT = "application/json, */*;q=0.8"
_EMPTY_SEGMENT = "%20"
_CONTROLS = re.compile("[\x00-\x08\x0a-\x1f\x7f]")
_NOT_TOKEN = re.compile(r"[^A-Za-z0-9!#$%&'*+.^_`|~-]")
_PATH_SAFE = "/%?:@!$&'()*+,;=-._~"
_COOKIE_SAFE = "!#$&'()*+,-./:<=>?@[]^_`{|}~"


def write(draft: Draft, base_path: str) -> Request:
    written = written_body(draft) if draft.raw is not None or draft.body is not NO_BODY else None
    headers = _headers(draft, written.content_type if written else None)
    target = base_path + _path(draft) + _query(draft)
    return Request(draft.operation.method, target, headers, written.content if written else None)


def _path(draft: Draft) -> str:
    declared = _declared(draft.operation, "path")
    pieces = list(_pieces(draft.operation.path))
    for place in range(1, len(pieces), 2):
        name = pieces[place]
        pieces[place] = _segment(declared.get(name), name, draft.path[name]) if name in draft.path else f"%7B{name}%7D"
    return "".join(pieces)


def _segment(parameter: Parameter | None, name: str, value: Json) -> str:
    if parameter is not None and parameter.media:
        text = percent(content_text(value))
    elif parameter is None:
        text = styled("simple", False, name, value)
    else:
        text = styled(parameter.style, parameter.explode, name, value)
    if not text.replace("%2E", "").strip("."):
        text = text.replace(".", "%2E")  # "." and ".." would be taken out of the path on the way
    return text or _EMPTY_SEGMENT


@lru_cache(maxsize=4096)
def _pieces(path: str) -> tuple[str, ...]:
    """What is fixed and the names of what is not, in turn."""
    parts = re.split(r"\{([^{}]*)\}", path)
    return tuple(percent(part, _PATH_SAFE) if place % 2 == 0 else part for place, part in enumerate(parts))


def _query(draft: Draft) -> str:
    if not draft.query:
        return ""
    declared = _declared(draft.operation, "query")
    pairs: Pairs = []
    for name, value in draft.query.items():
        parameter = declared.get(name)
        if parameter is not None and parameter.media:
            pairs.append((percent(name), percent(content_text(value))))
        elif parameter is None:
            pairs += query_pairs("form", True, name, value)
        else:
            pairs += query_pairs(parameter.style, parameter.explode, name, value)
    return "?" + "&".join(f"{key}={value}" for key, value in pairs) if pairs else ""


def _headers(draft: Draft, content_type: str | None) -> Headers:
    headers = [("Accept", _ACCEPT)]
    if content_type:
        headers.append(("Content-Type", content_type))
    headers += [(header_name(name), _header(draft, name, value)) for name, value in draft.headers.items()]
    if draft.cookies:
        headers.append(("Cookie", "; ".join(_cookie(draft, name, value) for name, value in draft.cookies.items())))
    # The last of a name wins: what the contract declares over ours, what was added on purpose over both.
    ours = {name.lower(): (name, value) for name, value in headers}
    overridden = {name.lower() for name, _ in draft.extra}
    kept = [header for key, header in ours.items() if key not in overridden]
    return (*kept, *((header_name(name), header_value(value)) for name, value in draft.extra))


def _header(draft: Draft, name: str, value: Json) -> str:
    parameter = _declared(draft.operation, "header").get(name)
    if parameter is not None and parameter.media:
        return header_value(content_text(value))
    return header_value(styled("simple", bool(parameter and parameter.explode), name, value, encode=str))


def _cookie(draft: Draft, name: str, value: Json) -> str:
    parameter = _declared(draft.operation, "cookie").get(name)
    if parameter is not None and parameter.media:
        return f"{header_name(name)}={percent(content_text(value), _COOKIE_SAFE)}"
    # Exploded arrays would be several cookies of one name, which no service reads: they are joined by commas.
    text = styled("simple", False, name, value, encode=lambda part: percent(part, _COOKIE_SAFE))
    return f"{header_name(name)}={text}"


def header_name(name: str) -> str:
    return _NOT_TOKEN.sub("-", name) or "-"


def header_value(value: str) -> str:
    if value.isascii() and value.isprintable():
        return value
    return _CONTROLS.sub(" ", value.encode("utf-8", "surrogatepass").decode("latin-1"))


def _declared(operation: Operation, where: str) -> dict[str, Parameter]:
    return {one.name: one for one in operation.parameters if one.where == where}
