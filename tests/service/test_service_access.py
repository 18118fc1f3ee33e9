"""The lock: who is not known gets 401, who may not gets 403, and neither learns anything."""

import asyncio
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.service.offices import Office, bearer, office, raw, routes_of

from whet.core.people import Role
from whet.service.access import is_public
from whet.service.headers import SECURITY
from whet.service.keys import parsed
from whet.service.sessions import COOKIE


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Office]:
    with office(tmp_path) as opened:
        yield opened


def _filled(path: str) -> str:
    return re.sub(r"{[^}]*}", "1", path)


def _roles(at: Office) -> dict[tuple[str, str], Role]:
    """By method and path: the role that a route says it needs."""
    found = {}
    for route in routes_of(at.app):
        asked = [getattr(each.call, "role", None) for each in route.dependant.dependencies]
        roles = [role for role in asked if role is not None]
        for method in route.methods or ():
            if not is_public(route.path):
                assert len(roles) == 1, f"{method} {route.path} does not say which role it needs"
                found[method, route.path] = roles[0]
    return found


def test_every_route_is_locked_and_says_for_whom(at: Office) -> None:
    stranger, needed = at.stranger(), _roles(at)
    assert len(needed) > 40
    for method, path in needed:
        refused = stranger.request(method, _filled(path))
        assert refused.status_code == 401, (method, path)
        assert refused.headers["www-authenticate"].startswith("Bearer")


def test_who_has_not_the_role_is_refused_everywhere(at: Office) -> None:
    """Everybody below the role a route needs; who has it is never told that a role is missing."""
    for (method, path), role in _roles(at).items():
        below = [each for each in Role if not each.may(role)]
        for each in below[-1:]:
            refused = at.program(each).request(method, _filled(path))
            assert refused.status_code == 403, (method, path, each)


def test_the_public_routes_are_these_and_no_others(at: Office) -> None:
    public = {route.path for route in routes_of(at.app) if is_public(route.path)}
    assert public == {"/healthz", "/login", "/static/{name}"}


@pytest.mark.parametrize(
    "path",
    [
        *(
            "//openapi.json",
            "/openapi.json/",
            "/OPENAPI.JSON",
            "/static/../openapi.json",
            "/static/../../pyproject.toml",
        ),
        *("/healthz/../metrics", "/login/", "/login/../metrics", "/static", "/static//etc/passwd", "/metrics;x=/login"),
        *("/static/..\\..\\pyproject.toml", "/\x00", "/healthz\x00", "/static/\udcff", "\\login", "/."),
    ],
)
def test_no_trick_with_a_path_gets_past_the_lock(at: Office, path: str) -> None:
    answer = asyncio.run(raw(at.app, path))
    assert answer[0]["status"] in (401, 404)


def test_only_the_digest_of_a_key_is_kept(at: Office) -> None:
    text = at.new_key(Role.ADMIN)
    _, secret = parsed(text) or ("", "")
    assert secret
    at.store.audit.append("nothing", "nobody", {})  # everything before it is in the file, or in its log
    for file in at.site.state_dir.iterdir():
        assert secret.encode() not in file.read_bytes(), file.name
    assert all(secret not in json.dumps(entry.payload) for entry in at.store.audit.entries())


def test_a_copy_of_the_store_is_not_enough_to_make_a_key(at: Office, tmp_path: Path) -> None:
    """The digest is keyed, and its key is not in the database."""
    from whet.core.people import NewKey
    from whet.service.keys import digest, mint

    minted = mint(b"another installation's secret", "mallory", Role.ADMIN)
    at.store.people.add(NewKey(**minted.kept.model_dump()), "mallory", at.clock())
    assert at.stranger().get("/openapi.json", headers=bearer(minted.text)).status_code == 401
    assert digest(b"a", "12345678", "x") != digest(b"b", "12345678", "x")


def test_a_key_is_refused_once_it_is_revoked_rotated_or_over(at: Office) -> None:
    program = at.program(Role.VIEWER)
    revoked, rotated = at.new_key(Role.VIEWER), at.new_key(Role.VIEWER)
    ending = at.new_key(Role.VIEWER, expires_at=at.clock() + timedelta(minutes=5))
    keys = (revoked, rotated, ending)
    assert [program.get("/model/info", headers=bearer(key)).status_code for key in keys] == [200, 200, 200]
    admin = at.program(Role.ADMIN)
    assert admin.post(f"/api/v1/keys/{parsed(revoked)[0]}/revoke").status_code == 200  # type: ignore[index]
    renewed = admin.post(f"/api/v1/keys/{parsed(rotated)[0]}/rotate").json()["text"]  # type: ignore[index]
    at.clock.pass_minutes(6)
    assert [program.get("/model/info", headers=bearer(key)).status_code for key in keys] == [401, 401, 401]
    assert program.get("/model/info", headers=bearer(renewed)).status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Basic YTpi",
        "Bearer whet_",
        "Bearer whet_aaaaaaaaaaaa_" + "a" * 43,
        "whet_a",
    ],
)
def test_what_is_no_key_is_refused(at: Office, sent: str) -> None:
    assert at.stranger().get("/model/info", headers={"Authorization": sent}).status_code == 401


def test_a_session_is_what_was_signed_and_nothing_else(at: Office) -> None:
    browser = at.browser()
    cookie = browser.cookies[COOKIE]
    assert browser.get("/openapi.json").status_code == 200
    for position in (0, 5, len(cookie) // 2, len(cookie) - 1):
        other = "A" if cookie[position] != "A" else "B"
        forged = cookie[:position] + other + cookie[position + 1 :]
        assert at.stranger().get("/openapi.json", headers={"Cookie": f"{COOKIE}={forged}"}).status_code == 401
    body, mac = cookie.split(".")
    for forged in (body, f"{body}.", f".{mac}", "", ".", f"{body}.{mac}x"):
        assert at.stranger().get("/openapi.json", headers={"Cookie": f"{COOKIE}={forged}"}).status_code == 401


def test_a_session_ends_with_its_time_and_with_its_key(at: Office) -> None:
    idle, busy = at.browser(Role.VIEWER), at.browser(Role.VIEWER)
    at.clock.pass_minutes(40)
    assert busy.get("/openapi.json").status_code == 200  # renews it
    at.clock.pass_minutes(25)
    assert (idle.get("/openapi.json").status_code, busy.get("/openapi.json").status_code) == (401, 200)
    for _ in range(20):
        at.clock.pass_minutes(40)
        busy.get("/openapi.json")
    assert busy.get("/openapi.json").status_code == 401  # nobody stays for ever
    again = at.browser(Role.VIEWER)
    key_id = (parsed(at.key(Role.VIEWER)) or ("", ""))[0]
    assert at.program().post(f"/api/v1/keys/{key_id}/rotate").status_code == 200
    assert again.get("/openapi.json").status_code == 401


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(at: Office) -> None:
    set_cookie = at.stranger().post("/login", data={"key": at.key()}).headers["set-cookie"]
    assert all(word in set_cookie for word in ("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=3600"))
    assert at.key() not in set_cookie


def test_a_form_needs_the_token_of_its_own_session(at: Office) -> None:
    browser, other = at.browser(), at.browser(Role.VIEWER)
    sessions, now = at.app.state.desk.sessions, at.clock().timestamp()
    token = {
        name: sessions.form_token(sessions.opened(b.cookies[COOKIE], now))
        for name, b in (("own", browser), ("other", other))
    }
    assert browser.post("/logout").status_code == 403
    assert browser.post("/logout", data={"csrf": "x"}).status_code == 403
    assert browser.post("/logout", data={"csrf": token["other"]}).status_code == 403
    assert browser.post("/api/v1/training/stop", headers={"x-csrf-token": token["other"]}).status_code == 403
    assert browser.post("/api/v1/training/stop", headers={"x-csrf-token": token["own"]}).status_code == 200
    assert browser.post("/logout", data={"csrf": token["own"]}).status_code == 303


def test_nobody_is_brought_in_from_another_site(at: Office) -> None:
    stranger = at.stranger()
    forged = stranger.post("/login", data={"key": at.key()}, headers={"Origin": "http://evil.example"})
    assert forged.status_code == 403
    assert COOKIE not in forged.headers.get("set-cookie", "")
    assert stranger.post("/login", data={"key": at.key()}, headers={"Origin": "http://127.0.0.1"}).status_code == 303


def test_a_key_for_metrics_is_for_metrics(at: Office) -> None:
    program = at.program(Role.METRICS)
    assert program.get("/metrics").status_code == 200
    assert program.get("/model/info").status_code == 403
    assert at.stranger().post("/login", data={"key": at.key(Role.METRICS)}).status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost@evil.example", "[::2]:80"])
def test_another_name_is_not_answered_to(at: Office, host: str) -> None:
    assert at.stranger().get("/healthz", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8321", "LOCALHOST", "[::1]:8321", "whet.example.org"])
def test_its_own_names_are(tmp_path: Path, host: str) -> None:
    with office(tmp_path, 'allowed_hosts = ["whet.example.org"]') as at:
        assert at.stranger().get("/healthz", headers={"Host": host}).status_code == 200


def test_every_answer_carries_the_security_headers(at: Office) -> None:
    answers = [
        at.stranger().get("/healthz"),
        at.stranger().get("/login"),
        at.stranger().get("/nowhere"),
        at.program().get("/nowhere"),
        at.program().get("/openapi.json"),
        at.stranger().get("/healthz", headers={"Host": "evil"}),
        at.program().post("/predict", content=b"x" * (2 << 20)),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 401, 404, 200, 421, 413]
    for answer in answers:
        assert {name: answer.headers.get(name) for name in SECURITY} == SECURITY
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers


def test_wrong_keys_are_tried_only_so_often(tmp_path: Path) -> None:
    with office(tmp_path, "attempts_per_minute = 3") as at:
        stranger = at.stranger()
        wrong = bearer("whet_aaaaaaaaaaaa_" + "a" * 43)
        assert [stranger.get("/model/info", headers=wrong).status_code for _ in range(4)] == [401, 401, 401, 429]
        refused = stranger.post("/login", data={"key": at.key()})
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1


def test_a_key_asks_only_so_often(tmp_path: Path) -> None:
    with office(tmp_path, "requests_per_minute = 3") as at:
        one, other = at.program(Role.VIEWER), at.program(Role.ADMIN)
        assert [one.get("/model/info").status_code for _ in range(4)] == [200, 200, 200, 429]
        assert other.get("/model/info").status_code == 200


def test_a_body_is_bounded_whatever_it_says_of_its_length(at: Office) -> None:
    program = at.program()
    assert program.post("/predict", content=b"x" * (1 << 20) + b"x").status_code == 413
    streamed = program.post(
        "/predict", content=(b"x" * 65_536 for _ in range(20)), headers={"content-type": "application/json"}
    )
    assert streamed.status_code == 413
    assert (
        at.stranger()
        .post(
            "/login",
            content=(b"x" * 65_536 for _ in range(20)),
            headers={"content-type": "application/x-www-form-urlencoded"},
        )
        .status_code
        == 413
    )
