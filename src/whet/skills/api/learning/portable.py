"""Requests as JSON, to be made again in another run. Bytes and surrogates survive."""

from collections.abc import Mapping
from typing import Any

from whet.core.text import whole_words
from whet.skills.api.contract.model import Contract, Json
from whet.skills.api.exchange import NO_BODY, Draft, Exchange
from whet.tools.http.messages import Request, Response

_BYTES = "whet:bytes"  # as text of the same bytes: a secret in it is found, and hidden, like in any other
_KEPT_BYTES = 4_000


def pack_draft(draft: Draft) -> dict[str, Json]:
    return {
        "operation": draft.operation.id,
        **{name: _packed(getattr(draft, name)) for name in ("path", "query", "headers", "cookies")},
        "body": None if draft.body is NO_BODY else [_packed(draft.body)],
        "media": draft.media,
        "raw": _packed(draft.raw),
        "extra": [list(pair) for pair in draft.extra],
        "credentials": draft.credentials,
        "broken": draft.broken,
        "mutation": draft.mutation,
    }


def unpack_draft(kept: Mapping[str, Any], contract: Contract) -> Draft | None:
    """None when the contract no longer has the operation."""
    operation = contract.operation(kept["operation"])
    if operation is None:
        return None
    return Draft(
        operation,
        **{name: _unpacked(kept[name]) for name in ("path", "query", "headers", "cookies")},
        body=NO_BODY if kept["body"] is None else _unpacked(kept["body"][0]),
        media=kept["media"],
        raw=_unpacked(kept["raw"]),
        extra=tuple((name, value) for name, value in kept["extra"]),
        credentials=kept["credentials"],
        broken=kept["broken"],
        mutation=kept["mutation"],
    )


def pack_exchange(exchange: Exchange) -> dict[str, Json]:
    """Without credentials: those are put on when it is sent."""
    response = exchange.response
    return {
        "number": exchange.number,
        "draft": pack_draft(exchange.draft),
        "target": exchange.request.target,
        "request_body": _packed(exchange.request.body),
        "status": response.status,
        "silence": response.silence,
        "headers": [[name, value] for name, value in response.headers if name.lower() in _TELLING],
        "answer": _packed(whole_words(response.body.decode("latin-1"), _KEPT_BYTES).encode("latin-1")),
        "whole": response.whole and len(response.body) <= _KEPT_BYTES,
    }


_TELLING = frozenset({"content-type", "location", "etag"})


def unpack_exchange(kept: Mapping[str, Any], contract: Contract) -> Exchange | None:
    draft = unpack_draft(kept["draft"], contract)
    if draft is None:
        return None
    headers = tuple((name, value) for name, value in kept["headers"])
    body = _unpacked(kept["answer"])
    request = Request(draft.operation.method, kept["target"], (), _unpacked(kept["request_body"]))
    answer = Response(kept["status"], headers, body, kept["whole"], silence=kept["silence"])
    return Exchange(kept["number"], draft, request, answer)


def _packed(value: Any) -> Json:
    if isinstance(value, bytes):
        return {_BYTES: value.decode("latin-1")}
    if isinstance(value, Mapping):
        return {name: _packed(one) for name, one in value.items()}
    return [_packed(one) for one in value] if isinstance(value, list | tuple) else value


def _unpacked(value: Json) -> Any:
    if isinstance(value, dict):
        if value.keys() == {_BYTES}:
            return value[_BYTES].encode("latin-1")
        return {name: _unpacked(one) for name, one in value.items()}
    return [_unpacked(one) for one in value] if isinstance(value, list) else value
