"""The OpenAPI document from its address: looked for in the usual places, never on another origin."""

from urllib.parse import urljoin

from whet.core.errors import WhetError
from whet.skills.api.access import Credential
from whet.skills.api.contract.reading import read_contract
from whet.tools.http.client import Client
from whet.tools.http.messages import Headers, Request, Response
from whet.tools.http.origin import Origin, place_of, split_address

# Where frameworks put their document, for those who give only the service's address.
_USUAL_PLACES = (
    "/openapi.json", "/openapi.yaml", "/swagger.json", "/v3/api-docs", "/v2/api-docs", "/api/openapi.json",
    "/api/schema/", "/api-docs", "/swagger/v1/swagger.json",
)  # fmt: skip
_MOST_REDIRECTS = 3
_MOST_BYTES = 64_000_000  # documents of ten megabytes exist
_ACCEPT = ("Accept", "application/json, application/yaml, */*")


def fetched(
    address: str, timeout_seconds: float, headers: Headers = (), credentials: tuple[Credential, ...] = ()
) -> tuple[bytes, str]:
    """The document and where it was found."""
    origin, _ = split_address(address)
    place = place_of(address)
    found: list[tuple[bytes, str]] = []
    with Client(origin, timeout_seconds, most_bytes=_MOST_BYTES) as client:
        for one in _USUAL_PLACES if place == "/" else (place,):
            text = _document(client, one, headers, credentials)
            if text is not None:
                found.append((text, f"{origin}{one}"))
                if place != "/" or _promises_something(*found[-1]):
                    return found[-1]
    if found:  # whoever reads it says what is wrong with it
        return found[0]
    if place != "/":
        raise WhetError(f"{address} gave no document.", "Open it in a browser: is it the OpenAPI document?")
    raise WhetError(
        f"{origin} has no OpenAPI document in the usual places ({', '.join(_USUAL_PLACES[:4])} …).",
        "Give its address, or a file and --url.",
    )


def _promises_something(text: bytes, name: str) -> bool:
    """Not a page that is answered for every path, nor an empty document beside that of the application."""
    try:
        read_contract(text, name)
    except WhetError:
        return False
    return True


def _document(client: Client, place: str, headers: Headers, credentials: tuple[Credential, ...]) -> bytes | None:
    """None for "not here". Redirects are followed on the same origin only."""
    for _ in range(_MOST_REDIRECTS):
        request = Request("GET", place, (_ACCEPT, *headers))
        for credential in credentials:
            request = credential.on(request)
        answer = client.send(request)
        if answer.status is None:
            raise WhetError(f"{client.origin} does not answer ({answer.silence}).", "Is the service running?")
        onward = answer.header("location")
        if answer.status in range(300, 400) and onward:
            place = _same_origin(client.origin, place, onward)
            continue
        return _whole(answer, client.origin, place) if answer.status == 200 else None
    return None


def _whole(answer: Response, origin: Origin, place: str) -> bytes:
    if not answer.whole:
        raise WhetError(f"{origin}{place} was cut off.", "Give more time with --timeout, or save it and give the file.")
    return answer.body


def _same_origin(origin: Origin, place: str, onward: str) -> str:
    target = urljoin(f"{origin}{place}", onward)
    other, _ = split_address(target)
    if other != origin:
        raise WhetError(f"{origin}{place} leads to {other}, which is another origin.", f"If that is meant: {target}")
    return place_of(target)
