"""Whet does not lock itself out: of its session, of its account, of its rights."""

import random
from typing import Any

import pytest
from tests.skills.api.small_service import (
    Answer,
    Document,
    Heard,
    contract,
    does,
    exploring,
    in_path,
    operation,
    record,
    served,
    service,
    told,
)  # fmt: skip

from whet.skills.api import knowledge as memory
from whet.skills.api.access import Access, Credential
from whet.skills.api.campaign import Budget, Campaign
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.explorer import Explorer
from whet.skills.api.learning.drafting import Made
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.lockout import Lockouts, ends_a_session

TEXT = {"type": "string"}
ONE = (in_path("id"),)
PERSON = record(("username", "password"), username={**TEXT, "example": "boss"}, password={**TEXT, "example": "open"})


def paths(**more: Document) -> Document:
    return {
        "/login": {"post": does("200", "401", body=PERSON)},
        "/users": {"get": does("200", "401"), "post": does("201", "401", body=PERSON)},
        "/users/{id}": {method: does("200", "401", "404", parameters=ONE) for method in ("get", "delete")},
        "/notes": {"get": does("200", "401"), "post": does("201", "401", body=record(text=TEXT))},
        **more,
    }


OFFICE = contract(paths(**{"/logout": {"post": does("204", "401")}}))


class Office:
    """One boss, who may sign in and sign up others. Who is deleted, or signed out, is let in no more."""

    def __init__(self) -> None:
        self.users = {1: ("boss", "open")}
        self.sessions: dict[str, int] = {}
        self._tokens = iter(range(10**8, 10**9))

    def __call__(self, heard: Heard) -> Answer:
        body = heard.body if isinstance(heard.body, dict) else {}
        who = (body.get("username"), body.get("password"))
        if heard.path == "/login":
            found = [one for one, known in self.users.items() if known == who]
            return (200, {"token": self.enter(found[0])}) if found else (401, {})
        token = heard.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.sessions.get(token) not in self.users:
            return 401, {"detail": "who are you?"}
        if heard.path == "/logout":
            del self.sessions[token]
            return 204, None
        return self._users(heard, who) if heard.path.startswith("/users") else (201 if body else 200, {"text": "x"})

    def enter(self, user: int) -> str:
        self.sessions[token := f"token-{next(self._tokens)}"] = user
        return token

    def _users(self, heard: Heard, who: tuple[Any, Any]) -> Answer:
        if heard.path == "/users" and heard.method == "GET":
            return 200, [{"id": one, "username": name} for one, (name, _) in self.users.items()]
        if heard.path == "/users":
            if not all(isinstance(one, str) for one in who):
                return 422, {}
            self.users[made := max(self.users) + 1] = who
            return 201, {"id": made, "username": who[0]}
        one = heard.path.rpartition("/")[2]
        if not one.isdecimal() or int(one) not in self.users:
            return 404, {}
        name = self.users.pop(int(one))[0] if heard.method == "DELETE" else self.users[int(one)][0]
        return 200, {"id": int(one), "username": name}


def asks_for_more(one: Exchange) -> bool:
    return one.draft.credentials == "given" and one.operation.path != "/login"


@pytest.mark.parametrize("seed", range(5))
def test_the_account_it_goes_by_stays_and_signing_out_comes_last(seed: int) -> None:
    office = Office()
    with served(office) as small, service(OFFICE, small) as reached:
        explorer = Explorer(OFFICE, OFFICE.operations, reached.send, seed)
        explorer.hears(reached.access.listen)
        explorer.keep(reached.access.own_names)
        campaign = Campaign(OFFICE, OFFICE.operations, reached, explorer, Budget(300))
        answers = [one.response.status for one in campaign.turns() if asks_for_more(one)]
        campaign.conclude()
    assert office.users[1] == ("boss", "open")
    assert answers[100:].count(401) < 20
    assert [one.path for one in small.heard].index("/logout") > 270
    assert {one for one, told in campaign.operations.items() if told.reached_at is None} == set()


@pytest.mark.parametrize("seed", range(5))
def test_a_token_that_was_given_is_not_signed_out_nor_its_account_deleted(seed: int) -> None:
    """Nobody said whose it is: what was there before is left alone."""
    office = Office()
    given = Credential("header", "Authorization", f"Bearer {office.enter(1)}")
    with served(office) as small, service(OFFICE, small, given) as reached:
        explorer = Explorer(OFFICE, OFFICE.operations, reached.send, seed)
        campaign = Campaign(OFFICE, OFFICE.operations, reached, explorer, Budget(300))
        answers = [one.response.status for one in campaign.turns() if asks_for_more(one)]
        campaign.conclude()
    assert 1 in office.users
    assert answers.count(401) < len(answers) / 4


def test_confirming_logs_in_too() -> None:
    office = Office()
    with served(office) as small, service(OFFICE, small) as reached:
        explorer = Explorer(OFFICE, OFFICE.operations, reached.send, 0)
        explorer.hears(reached.access.listen)
        campaign = Campaign(OFFICE, OFFICE.operations, reached, explorer, Budget(200))
        turns = campaign.turns()
        while reached.access.handed_out is None:
            next(turns)
        office.sessions.clear()
        drafts = [explorer.drafting.full(operation(OFFICE, "GET /users")).draft for _ in range(5)]
        statuses = [campaign.send(draft).response.status for draft in drafts]
    assert (statuses[0], statuses[-1]) == (401, 200)


def test_a_login_that_is_refused_gives_way_to_another() -> None:
    access = Access(OFFICE)
    login = operation(OFFICE, "POST /login")
    for name in ("kim", "ann"):
        body = {"username": name, "password": "x"}
        access.listen(told(login, 200, {"token": f"t-{name}-1234567"}, body=body))
    refused = told(operation(OFFICE, "GET /users"), 401)
    first = [access.listen(refused) for _ in range(3)][-1]
    assert first is not None
    assert first.body == {"username": "ann", "password": "x"}
    second = access.listen(told(login, 401, body=first.body))
    assert second is not None
    assert second.body == {"username": "kim", "password": "x"}
    assert access.listen(told(login, 401, body=second.body)) is None
    assert [access.listen(refused) for _ in range(6)] == [None] * 6, "nobody is left to ask for"


@pytest.mark.parametrize(
    ("asked", "ends"),
    [
        ("POST /logout", True), ("POST /auth/sign-out", True), ("POST /users/signoff/", True),
        ("POST /tokens/revoke", True),
        ("POST /login", False), ("POST /logout/reasons", False), ("POST /catalogues", False), ("POST /checkout", False),
        ("POST /users/reset-password", True), ("POST /account/api-key/rotate", True),
        ("POST /change_my_password", True),
        ("POST /users/{id}/reset-password", False), ("POST /tokens", False), ("POST /tokens/generate", False),
        ("DELETE /users/me", True), ("DELETE /current-user", True), ("GET /users/me", False),
        ("DELETE /users/{id}", False),
    ],
)  # fmt: skip
def test_what_ends_a_session_is_known_by_its_name(asked: str, ends: bool) -> None:
    method, path = asked.split()
    of = ONE if "{id}" in path else ()
    assert ends_a_session(contract({path: {method.lower(): does("200", parameters=of)}}).operations[0]) is ends


RIGHTS = contract({
    **{f"/{name}": {"get": does("200", "403")} for name in "abcdefghijkl"},
    "/roles/{id}": {"put": does("200", "403", parameters=ONE)},
})  # fmt: skip


def heard(lockouts: Lockouts, *told_of: tuple[str, int]) -> None:
    for number, (name, status) in enumerate(told_of, 1):
        lockouts.listen(told(operation(RIGHTS, name), status, number=number))


WORKED = tuple((f"GET /{name}", 200) for name in "abcdef")
REFUSED = tuple((f"GET /{name}", 403) for name in "abcdef")
OTHERS = tuple((f"GET /{name}", 200) for name in "ghijkl")


def test_what_took_our_rights_away_is_noticed_and_left_out_by_the_next_run() -> None:
    lockouts = Lockouts()
    heard(lockouts, *WORKED, ("PUT /roles/{id}", 200), *REFUSED)
    assert lockouts.noticed is not None
    assert (lockouts.noticed.write.number, lockouts.noticed.since, lockouts.noticed.operations) == (7, 8, 5)

    def rights(asked: Heard) -> Answer:
        taken.extend([asked.path] if asked.method == "PUT" else [])
        return (403, {}) if taken and asked.method == "GET" else (200, {"id": 1})

    taken: list[str] = []
    known = memory.Knowledge(lockouts=lockouts.every())
    assert memory.read(memory.written(known)).lockouts == ["PUT /roles/{id}"]
    with served(rights) as small, exploring(RIGHTS, small) as explorer:
        memory.teach(explorer, known, RIGHTS)
        turns = explorer.turns(lambda: True)
        for _ in range(150):
            next(turns)
    assert taken == []


def test_a_service_that_stumbles_over_our_account_has_shut_us_out_too() -> None:
    lockouts = Lockouts()
    heard(lockouts, *WORKED, ("PUT /roles/{id}", 200), *((name, 500) for name, _ in WORKED))
    assert lockouts.noticed is not None
    assert lockouts.every() == ["PUT /roles/{id}"]


@pytest.mark.parametrize(
    "told_of",
    [
        (*WORKED, *REFUSED),  # nobody wrote
        (("PUT /roles/{id}", 200), *WORKED[:4], *REFUSED[:4]),  # too few
        (("PUT /roles/{id}", 200), *REFUSED),  # they never worked
        (*WORKED, ("PUT /roles/{id}", 200), *(one for pair in zip(REFUSED, WORKED, strict=True) for one in pair)),
        (*WORKED, ("PUT /roles/{id}", 200), *(one for pair in zip(REFUSED, OTHERS, strict=True) for one in pair)),
    ],
)
def test_a_few_refusals_are_no_lockout(told_of: tuple[tuple[str, int], ...]) -> None:
    lockouts = Lockouts()
    heard(lockouts, *told_of)
    assert lockouts.noticed is None


class Fragile:
    """Who renames the only account that it came with is let in no more, and nobody else either."""

    def __init__(self, signs_up: bool) -> None:
        self.users, self.signs_up = ["default"], signs_up
        self.written: list[str] = []

    def __call__(self, heard: Heard) -> Answer:
        name = heard.path.removeprefix("/users").strip("/").partition("/")[0]
        body = heard.body if isinstance(heard.body, dict) else {}
        if heard.path == "/users" and heard.method == "POST" and self.signs_up and body.get("username"):
            self.users.append(str(body["username"]))
            return 201, {"name": self.users[-1]}
        if heard.path == "/users":
            return (200, [{"name": one} for one in self.users]) if heard.method == "GET" else (422, {})
        if name not in self.users:
            return 404, {}
        if heard.method != "GET":
            self.written.append(name)
        return 200, {"name": name}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("signs_up", [True, False])
def test_accounts_that_were_there_before_are_not_written_to(signs_up: bool, seed: int) -> None:
    named = (in_path("name", "string"),)
    made = contract({
        "/users": {"get": does("200"), "post": does("201", "422", body=PERSON)},
        "/users/{name}": {"get": does("200", "404", parameters=named),
                          "patch": does("200", "404", parameters=named, body=record(note=TEXT))},
        "/users/{name}/activate": {"put": does("200", "404", parameters=named)},
    })  # fmt: skip
    fragile = Fragile(signs_up)
    with served(fragile) as small, exploring(made, small, seed) as explorer:
        turns = explorer.turns(lambda: len(small.heard) > 150)
        for _ in range(250):
            next(turns)
        left = [one.id for one in made.operations if explorer.leaves_accounts_alone(one)]
        named_so = Made(Draft(operation(made, "PATCH /users/{name}"), {"name": "default"}))  # however it came by it
        assert explorer._spare(named_so, ending=True).draft.path["name"] not in fragile.users
    assert "default" not in fragile.written
    at_last = [one.path.split("/")[2] for one in small.heard[-100:] if one.method in ("PATCH", "PUT")]
    assert sum(one in fragile.users for one in at_last) > len(at_last) / 3 if signs_up else at_last == []
    assert left == ([] if signs_up else ["PATCH /users/{name}", "PUT /users/{name}/activate"])


def test_a_change_makes_nothing_and_a_thing_with_an_id_is_not_known_by_its_name() -> None:
    entities = Entities(random.Random(0))
    entities.take_in(told(operation(OFFICE, "GET /users"), 200, [{"id": 1, "name": "kim"}], number=1))
    entities.take_in(told(operation(OFFICE, "POST /users"), 201, {"id": 2, "name": "kim"}, number=2))
    there, made = entities.alive("/users")
    assert (entities.is_made(there), entities.is_made(made)) == (False, True)
    assert (entities.may_be_deleted(there), entities.may_be_deleted(made)) == (False, True)
