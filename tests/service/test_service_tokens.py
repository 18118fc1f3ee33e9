"""Tokens of the organisation's own: one algorithm, one key, an end, and meant for us; nothing else gets in."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from tests.service.offices import Office, bearer, office

from whet.core.errors import WhetError
from whet.core.people import Role
from whet.service.tokens import Tokens
from whet.settings.service import Service

SECRET = " ".join(("correct horse battery staple", "and then some more"))
AUDIENCE = "whet.example.org"
TOKENS = 'jwt_algorithm = "{}"\njwt_key = "{}"\njwt_audience = "whet.example.org"'


def claims(**changes: Any) -> dict[str, Any]:
    told = {"sub": "build", "role": "viewer", "aud": AUDIENCE, "exp": int(time.time()) + 60} | changes
    return {name: value for name, value in told.items() if value is not None}


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    monkeypatch.setenv("JWT_SECRET", SECRET)
    with office(tmp_path, TOKENS.format("HS256", "env:JWT_SECRET")) as opened:
        yield opened


def status(at: Office, token: str) -> int:
    return at.stranger().get("/model/info", headers=bearer(token)).status_code


def test_a_right_token_is_somebody_with_a_role(at: Office) -> None:
    viewer = jwt.encode(claims(), SECRET, "HS256")
    assert status(at, viewer) == 200
    refused = at.stranger().post("/api/v1/training/stop", headers=bearer(viewer))
    assert (refused.status_code, "build" in refused.json()["detail"]) == (403, True)


@pytest.mark.parametrize(("claim", "from_now"), [("exp", -1), ("nbf", 600), ("iat", 600)])
def test_a_time_that_is_over_or_not_yet_is_refused(at: Office, claim: str, from_now: int) -> None:
    body = claims(**{claim: int(time.time()) + from_now})
    assert status(at, _signed({"alg": "HS256", "typ": "JWT"}, body, SECRET.encode())) == 401


@pytest.mark.parametrize(
    "wrong",
    [
        {"exp": None},
        {"aud": "another.example.org"},
        {"aud": None},
        {"aud": []},
        {"sub": None},
        {"sub": ""},
        {"role": None},
        {"role": "root"},
        {"role": ["admin"]},
        {"exp": "tomorrow"},
        {"sub": "x" * 101},
    ],
    ids=str,
)
def test_wrong_claims_are_refused(at: Office, wrong: dict[str, Any]) -> None:
    body = claims(**wrong)
    token = _signed({"alg": "HS256", "typ": "JWT"}, body, SECRET.encode())
    assert status(at, token) == 401


def _part(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def _signed(header: dict[str, Any], body: dict[str, Any], secret: bytes) -> str:
    signed = f"{_part(header)}.{_part(body)}"
    mac = hmac.new(secret, signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


@pytest.mark.parametrize("name", ["none", "None", "NONE", "nOnE", "", "HS512", "RS256"])
def test_another_algorithm_is_refused(at: Office, name: str) -> None:
    header = {"alg": name, "typ": "JWT"}
    assert status(at, f"{_part(header)}.{_part(claims(role='admin'))}.") == 401
    assert status(at, _signed(header, claims(role="admin"), SECRET.encode())) == 401


def test_a_changed_token_is_refused(at: Office) -> None:
    header, body, mac = jwt.encode(claims(), SECRET, "HS256").split(".")
    admin = _part(claims(role="admin"))
    for forged in (
        f"{header}.{admin}.{mac}",
        f"{header}.{body}.",
        f"{header}.{body}",
        f"{header}.{body}.{mac[:-4]}AAAA",
    ):
        assert status(at, forged) == 401
    assert status(at, _signed({"alg": "HS256"}, claims(), b"guessed" * 6)) == 401
    keyed = {"alg": "HS256", "jwk": {"kty": "oct", "k": "AAAA"}, "jku": "http://evil.example", "kid": "../../dev/null"}
    assert status(at, _signed(keyed, claims(), b"")) == 401


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_a_public_key_is_no_secret(tmp_path: Path, algorithm: str) -> None:
    """The oldest trick: to sign with what everybody knows, and to say that it was a secret."""
    made = rsa.generate_private_key(65537, 2048) if algorithm == "RS256" else ec.generate_private_key(ec.SECP256R1())
    public = made.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    private = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    tmp_path.joinpath("idp.pem").write_bytes(public)
    with office(tmp_path, TOKENS.format(algorithm, "idp.pem")) as at:
        assert status(at, jwt.encode(claims(), private, algorithm)) == 200
        for secret in (public, public.strip(), b""):
            assert status(at, _signed({"alg": "HS256"}, claims(role="admin"), secret)) == 401
            assert status(at, _signed({"alg": algorithm}, claims(role="admin"), secret)) == 401


def test_without_settings_no_token_is_right(tmp_path: Path) -> None:
    with office(tmp_path) as at:
        assert status(at, jwt.encode(claims(), SECRET, "HS256")) == 401


def test_a_key_that_cannot_be_used_is_said_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(**changes: Any) -> Tokens:
        told = {"jwt_algorithm": "HS256", "jwt_key": "env:JWT_SECRET", "jwt_audience": AUDIENCE} | changes
        return Tokens(Service(**told), tmp_path)

    with pytest.raises(WhetError, match="JWT_SECRET, the key of tokens, is not set"):
        opened()
    monkeypatch.setenv("JWT_SECRET", "short")
    with pytest.raises(WhetError, match="has 5 bytes"):
        opened()
    (tmp_path / "idp.pem").write_text("not a key")
    with pytest.raises(WhetError, match="no public key"):
        opened(jwt_algorithm="RS256", jwt_key="idp.pem")
    with pytest.raises(ValueError, match="files are committed"):
        opened(jwt_key="secret.txt")
    with pytest.raises(WhetError, match="some are missing"):
        opened(jwt_audience=None)


def test_a_hostile_token_costs_nothing(at: Office) -> None:
    for token in ("e30." * 2000, "A" * 7000, "..", "e30.e30.e30", "whet_.e30.e30"):
        assert status(at, token) == 401
    assert at.program(Role.VIEWER).get("/model/info").status_code == 200
