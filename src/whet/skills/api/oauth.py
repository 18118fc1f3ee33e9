"""OAuth2 client credentials: one request for a token, to the address the contract names, on the same origin."""

import json
from dataclasses import dataclass, field
from urllib.parse import urlencode, urljoin

from whet.core.errors import WhetError
from whet.skills.api.access import Credential, secret
from whet.skills.api.contract.model import Contract
from whet.skills.api.spoiling import basic
from whet.tools.http.client import Client
from whet.tools.http.messages import Request
from whet.tools.http.origin import place_of, split_address


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    client_id: str
    client_secret: str = field(repr=False)


def parse_client(text: str) -> ClientCredentials:
    """`oauth2:ID:SECRET`; the secret may be env:NAME."""
    client_id, colon, given = text.removeprefix("oauth2:").partition(":")
    if not client_id or not colon or not given:
        raise WhetError("--auth oauth2 needs an id and a secret.", "Give oauth2:ID:SECRET or oauth2:ID:env:VARIABLE.")
    return ClientCredentials(client_id, secret(given))


def token(client: Client, contract: Contract, credentials: ClientCredentials) -> Credential:
    """A bearer credential, or an error that says what the token address answered."""
    path, scopes = _token_place(client, contract)
    form = {"grant_type": "client_credentials", **({"scope": " ".join(scopes)} if scopes else {})}
    headers = (
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("Authorization", basic(credentials.client_id, credentials.client_secret)),
        ("Accept", "application/json"),
    )
    answer = client.send(Request("POST", path, headers, urlencode(form).encode()))
    try:
        given = json.loads(answer.body)["access_token"]
    except (ValueError, KeyError, TypeError):
        told = answer.status or answer.silence
        raise WhetError(
            f"{client.origin}{path} gave no access token ({told}).", "Check the id and the secret."
        ) from None
    return Credential("header", "Authorization", f"Bearer {given}")


def _token_place(client: Client, contract: Contract) -> tuple[str, tuple[str, ...]]:
    named = next((one for one in contract.security_schemes.values() if one.kind == "oauth2" and one.token_url), None)
    if named is None or named.token_url is None:
        raise WhetError(
            "The contract names no OAuth2 token address.", "Get a token yourself and give --auth bearer:TOKEN."
        )
    address = urljoin(f"{client.origin}/", named.token_url)
    origin, _ = split_address(address)
    if origin != client.origin:
        raise WhetError(
            f"The contract's token address is on another origin ({origin}), where nothing is sent.",
            "Get a token yourself and give --auth bearer:TOKEN.",
        )
    return place_of(address), named.scopes
