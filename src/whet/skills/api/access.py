"""Credentials: how they were given, how a request carries them, and tokens the service itself hands out."""

import base64
import json
import os
import random
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from whet.core.errors import WhetError
from whet.skills.api.contract.model import Contract, Json, SecurityScheme
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Kind
from whet.skills.api.oracles.replaying import needed
from whet.skills.api.spoiling import WRONG, basic, spoiled
from whet.tools.http.messages import Headers, Request

_FORMS = "bearer:TOKEN, basic:USER:PASSWORD, header:NAME=VALUE, query:NAME=VALUE, cookie:NAME=VALUE or oauth2:ID:SECRET"
_TOKEN_NAMES = ("access_token", "accesstoken", "token", "jwt", "id_token", "auth_token", "session_token")
_PATIENCE = 3
_MOST_TOKENS = 100
_MOST_LOGINS = 3
_TELLING = 4  # characters: a shorter text may stand anywhere
_SECRET = re.compile(r"password|secret|token|grant|scope|client", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Credential:
    """One header, query parameter or cookie that lets us in."""

    where: str  # header, query or cookie
    name: str
    value: str = field(repr=False)

    def on(self, request: Request) -> Request:
        if self.where == "query":
            mark = "&" if "?" in request.target else "?"
            return replace(request, target=f"{request.target}{mark}{quote(self.name)}={quote(self.value, safe='')}")
        if self.where == "cookie":
            return replace(request, headers=_with_cookie(request.headers, f"{self.name}={self.value}"))
        others = (pair for pair in request.headers if pair[0].lower() != self.name.lower())
        return replace(request, headers=(*others, (self.name, self.value)))

    def secrets(self) -> Iterator[str]:
        """What must not be told: the value, and what it is made of (the token, user and password)."""
        yield self.value
        scheme, space, bare = self.value.partition(" ")
        if space:
            yield bare
        if scheme == "Basic":
            with suppress(ValueError):  # it was given as a header, and is not what it says
                both = base64.b64decode(bare).decode()
                yield from (both, both.partition(":")[2])


@dataclass(slots=True)
class Access:
    """What was given stays; a token the service handed out is used where nothing was given."""

    contract: Contract
    given: tuple[Credential, ...] = ()
    seed: int = 0  # of wrong credentials: the same ones all through a run
    handed_out: Credential | None = None
    handed_out_before: list[Credential] = field(default_factory=list)  # and the one in use: none may be told
    way_in: tuple[Exchange, ...] = ()  # the first login that worked, after what led to it
    _entered: Credential | None = None  # what that one handed out
    _logins: list[Draft] = field(default_factory=list)  # that worked, the one to try next first
    _refusals: int = 0

    def dress(self, request: Request, credentials: str) -> Request:
        for credential in self._worn(credentials):
            request = credential.on(request)
        return request

    def secrets(self) -> tuple[str, ...]:
        entered = () if self._entered is None else (self._entered,)
        return tuple(secret for one in (*self.given, *entered, *self.handed_out_before) for secret in one.secrets())

    def listen(self, exchange: Exchange) -> Draft | None:
        """Adopt the token a login answers, where none was given; the login to send again when the token ran out."""
        if self.given:
            return None
        token = next(_tokens(exchange.response.body), None) if _is_login(exchange) else None
        if token is not None:
            self._adopt(token, exchange)
        elif exchange.response.status == 401 and exchange.draft.credentials == "given":
            return self._refused(exchange)
        self._refusals = 0 if exchange.ok else self._refusals
        return None

    def _adopt(self, token: str, exchange: Exchange) -> None:
        self.handed_out = Credential("header", "Authorization", f"Bearer {token}")
        self.handed_out_before = [*self.handed_out_before, self.handed_out][-_MOST_TOKENS:]
        others = [one for one in self._logins if one.body != exchange.draft.body]
        self._logins = [exchange.draft, *others][:_MOST_LOGINS]
        if self._entered is None:
            self._entered, self.way_in = self.handed_out, (exchange,)

    def own_names(self) -> frozenset[Json]:
        """What we said who we are: whatever goes by it is not to be deleted, or nobody lets us in again."""
        bodies = [one.body for one in self._logins if isinstance(one.body, dict)]
        return frozenset(
            value for body in bodies for name, value in body.items()
            if isinstance(value, str) and len(value) >= _TELLING and not _SECRET.search(name)
        )  # fmt: skip

    def came_by(self, story: tuple[Exchange, ...], exchange: Exchange) -> None:
        """What led to an exchange: a login may need somebody who signed up before."""
        if self.way_in == (exchange,):
            steps = (*story, exchange)
            self.way_in = (*(steps[number] for number in needed(Kind.SERVER_ERROR, steps)), exchange)

    def from_the_login(self, steps: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
        """The steps after the login, each that wears a token with the one it hands out: so they can be repeated."""
        tokens = {(one.name, one.value) for one in self.handed_out_before}
        if self._entered is None or not any(_wears(step, tokens) for step in steps):
            return steps
        entered, known = self._entered, {step.number for step in steps}
        dressed = (replace(one, request=entered.on(one.request)) if _wears(one, tokens) else one for one in steps)
        return (*(step for step in self.way_in if step.number not in known), *dressed)

    def _refused(self, exchange: Exchange) -> Draft | None:
        """One refusal may be the operation's own; several in a row mean that we logged ourselves out. A login that is
        refused itself gives way to the next, if there is one."""
        if any(exchange.draft == one for one in self._logins):
            self._logins = [one for one in self._logins if one != exchange.draft]
            return self._logins[0] if self._logins else None
        self._refusals += 1
        if self._refusals < _PATIENCE or not self._logins:
            return None
        self._refusals, self.handed_out = 0, None
        return self._logins[0]

    def _worn(self, credentials: str) -> tuple[Credential, ...]:
        if credentials == "none":
            return ()
        own = self.given or ((self.handed_out,) if self.handed_out else ())
        if credentials == "wrong":
            return tuple(map(self._wrong_one, own)) or self._wrong_by_contract()
        return own

    def _wrong_one(self, right: Credential) -> Credential:
        return replace(right, value=spoiled(right.value, random.Random(f"{self.seed} {right.name}")))  # noqa: S311

    def _wrong_by_contract(self) -> tuple[Credential, ...]:
        schemes = self.contract.security_schemes.values()
        return tuple(_wrong(scheme) for scheme in schemes)[:1] or (
            Credential("header", "Authorization", f"Bearer {WRONG}"),
        )


def split_headers(contract: Contract, headers: Headers) -> tuple[Headers, tuple[Credential, ...]]:
    """Headers by which a service knows who asks are credentials, however they were given."""
    named = {one.field.lower() for one in contract.security_schemes.values() if one.field and one.where == "header"}
    secret = {"authorization", "cookie", *named}
    plain = tuple(pair for pair in headers if pair[0].lower() not in secret)
    return plain, tuple(Credential("header", *pair) for pair in headers if pair[0].lower() in secret)


def parse_credential(text: str) -> Credential:
    """`--auth`: bearer:TOKEN, basic:USER:PASSWORD, header:NAME=VALUE … A value `env:NAME` is read from there."""
    kind, _, rest = text.partition(":")
    if kind == "bearer" and rest:
        return Credential("header", "Authorization", f"Bearer {secret(rest)}")
    if kind == "basic" and ":" in rest:
        user, _, password = rest.partition(":")
        return Credential("header", "Authorization", basic(user, secret(password)))
    name, equals, value = rest.partition("=")
    if kind in {"header", "query", "cookie"} and name and equals:
        return Credential(kind, name, secret(value))
    raise WhetError(f"--auth does not understand {kind!r}.", f"Give one of: {_FORMS}.")


def secret(text: str) -> str:
    """As given, or from the environment (`env:NAME`)."""
    if not text.startswith("env:"):
        return text
    name = text.removeprefix("env:")
    if name not in os.environ:
        raise WhetError(f"The environment has no {name}.", f"Set it: export {name}=…")
    return os.environ[name]


def _wrong(scheme: SecurityScheme) -> Credential:
    if scheme.kind == "basic":
        return Credential("header", "Authorization", basic("whet", "wrong"))
    if scheme.kind == "api-key" and scheme.field and scheme.where in {"header", "query", "cookie"}:
        return Credential(str(scheme.where), scheme.field, WRONG)
    return Credential("header", "Authorization", f"Bearer {WRONG}")


def _wears(step: Exchange, tokens: Collection[tuple[str, str]]) -> bool:
    return any(pair in tokens for pair in step.request.headers)


def _with_cookie(headers: Headers, pair: str) -> Headers:
    rest = tuple((name, value) for name, value in headers if name.lower() != "cookie")
    before = [value for name, value in headers if name.lower() == "cookie"]
    return (*rest, ("Cookie", "; ".join([*before, pair])))


def _is_login(exchange: Exchange) -> bool:
    return exchange.ok and exchange.draft.mutation is None and _sent_password(exchange.draft.body)


def _sent_password(body: Json) -> bool:
    return isinstance(body, dict) and any("password" in name.lower() or "secret" in name.lower() for name in body)


def _tokens(body: bytes) -> Iterator[str]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return
    inner = answer.get("data") if isinstance(answer, dict) else None
    for level in (answer, inner):
        if isinstance(level, dict):
            named = {name.lower(): value for name, value in level.items()}
            yield from (named[name] for name in _TOKEN_NAMES if isinstance(named.get(name), str) and named[name])
