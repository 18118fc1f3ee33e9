"""Credentials: how they are given, carried, spoiled, and got from the service itself."""

import base64
import random
import re
from itertools import islice
from typing import Any

import pytest
from tests.skills.api.small_service import Answer, Heard, contract, does, operation, record, served, service, told

from whet.core.errors import WhetError
from whet.skills.api.access import Access, Credential, parse_credential, split_headers
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.explorer import Explorer
from whet.skills.api.oauth import ClientCredentials, parse_client, token
from whet.skills.api.spoiling import spoiled
from whet.tools.http.client import Client
from whet.tools.http.messages import Request

LOGIN = does("200", "401", body=record(("user", "password"), user={"type": "string"}, password={"type": "string"}))
CONTRACT = contract(
    {
        "/login": {"post": LOGIN},
        "/things": {"get": does("200", "401", security=[{"key": []}])},
    },
    components={"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
)
POST, GET = operation(CONTRACT, "POST /login"), operation(CONTRACT, "GET /things")
PLAIN = Request("GET", "/things?a=1", (("Accept", "*/*"), ("Cookie", "theme=dark")))


def dressed(access: Access, credentials: str = "given") -> Request:
    return access.dress(PLAIN, credentials)


class TestGiven:
    @pytest.mark.parametrize(
        ("text", "header"),
        [
            ("bearer:abc", ("Authorization", "Bearer abc")),
            ("basic:ann:a:b", ("Authorization", "Basic " + base64.b64encode(b"ann:a:b").decode())),
            ("header:X-Key=v=w", ("X-Key", "v=w")),
        ],
    )
    def test_headers(self, text: str, header: tuple[str, str]) -> None:
        assert header in dressed(Access(CONTRACT, (parse_credential(text),))).headers

    def test_query_and_cookie(self) -> None:
        access = Access(CONTRACT, (parse_credential("query:k=a&b c"), parse_credential("cookie:sid=1")))
        worn = dressed(access)
        assert worn.target == "/things?a=1&k=a%26b%20c"
        assert ("Cookie", "theme=dark; sid=1") in worn.headers
        assert len(worn.headers) == 2

    def test_a_secret_may_stand_in_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("WHET_TEST_TOKEN", "from-there")
        assert parse_credential("bearer:env:WHET_TEST_TOKEN").value == "Bearer from-there"
        monkeypatch.delenv("WHET_TEST_TOKEN")
        with pytest.raises(WhetError, match="export WHET_TEST_TOKEN"):
            parse_credential("bearer:env:WHET_TEST_TOKEN")

    @pytest.mark.parametrize("text", ["", "bearer", "bearer:", "basic:ann", "digest:x", "header:X-Key", "query:=v"])
    def test_what_is_not_understood_is_refused_with_the_forms(self, text: str) -> None:
        with pytest.raises(WhetError, match="bearer:TOKEN"):
            parse_credential(text)

    def test_none_and_wrong(self) -> None:
        access = Access(CONTRACT, (parse_credential("bearer:abc"),))
        assert dressed(access, "none") == PLAIN
        wrong = dict(dressed(access, "wrong").headers)["Authorization"]
        assert wrong.startswith("Bearer ")
        assert wrong != "Bearer abc"

    @pytest.mark.parametrize("value", ["Bearer abba", "x", "Basic " + base64.b64encode(b"whet:right").decode()])
    def test_a_wrong_credential_is_never_the_right_one(self, value: str) -> None:
        wrong = dict(dressed(Access(CONTRACT, (Credential("header", "X-Key", value),)), "wrong").headers)["X-Key"]
        assert wrong != value

    @pytest.mark.parametrize(
        ("right", "form"),
        [
            ("Bearer SeKrEt-token.42", r"Bearer [A-Z][a-z][A-Z][a-z][A-Z][a-z]-[a-z]{5}\.\d\d"),
            ("8f14e45f-ceea-4672-AB", r"[0-9a-f]{8}-[a-f]{4}-\d{4}-[A-F]{2}"),
            ("Basic " + base64.b64encode(b"ann:right").decode(), "Basic " + base64.b64encode(b"whet:wrong").decode()),
            ("my secret phrase", "[a-z]{16}"),
            ("pa$$ wörd", "[a-z]{9}"),
        ],
    )
    def test_a_wrong_credential_has_the_form_of_the_right_one(self, right: str, form: str) -> None:
        assert re.fullmatch(form, spoiled(right, random.Random(1)))

    def test_of_many_wrong_ones_nobody_learns_the_right_one(self) -> None:
        """Neither by what they have of it, nor by what they never have."""
        made = [spoiled("Bearer z7", random.Random(seed)).removeprefix("Bearer ") for seed in range(500)]
        assert {one[0] for one in made} == set("abcdefghijklmnopqrstuvwxyz")
        assert {one[1] for one in made} == set("0123456789")

    def test_a_run_has_one_wrong_credential_and_another_run_another(self) -> None:
        given = (parse_credential("query:k=SeKrEt-token-42"),)
        first, again, other = (dressed(Access(CONTRACT, given, seed), "wrong").target for seed in (1, 1, 2))
        assert first == again != other

    def test_without_any_a_wrong_one_is_made_as_the_contract_says(self) -> None:
        assert "X-Key" in dict(dressed(Access(CONTRACT), "wrong").headers)

    def test_a_credential_takes_the_place_of_a_value_that_was_made_up(self) -> None:
        request = Request("GET", "/", (("x-key", "made up"),))
        worn = Access(CONTRACT, (parse_credential("header:X-Key=real"),)).dress(request, "given")
        assert worn.headers == (("X-Key", "real"),)

    def test_headers_by_which_the_service_knows_who_asks_are_credentials(self) -> None:
        plain, secret = split_headers(CONTRACT, (("X-Tenant", "a"), ("x-key", "k"), ("Authorization", "B t")))
        assert plain == (("X-Tenant", "a"),)
        assert [one.name for one in secret] == ["x-key", "Authorization"]

    def test_what_must_not_be_told(self) -> None:
        given = tuple(map(parse_credential, ("bearer:abc-token", "basic:ann:hunter22", "query:k=query-key")))
        secrets = Access(CONTRACT, given).secrets()
        assert {"abc-token", "hunter22", "query-key"} <= set(secrets)
        assert "query-key" not in repr(given)
        assert "hunter22" not in repr(given)


class TestHandedOut:
    def login(self, access: Access, answer: Any, **draft: Any) -> None:
        body = {"user": "ann", "password": "x"}
        access.listen(told(POST, 200, answer, **{"body": body, **draft}))

    @pytest.mark.parametrize("answer", [{"access_token": "t1"}, {"Token": "t1"}, {"data": {"jwt": "t1"}}])
    def test_the_token_of_a_login_is_worn_from_then_on(self, answer: Any) -> None:
        access = Access(CONTRACT)
        self.login(access, answer)
        assert ("Authorization", "Bearer t1") in dressed(access).headers
        assert "t1" in access.secrets()

    @pytest.mark.parametrize(
        ("answer", "draft"),
        [
            ({"token": "t"}, {"body": {"user": "ann"}}),
            ({"token": "t"}, {"mutation": "text-long"}),
            ({"token": ""}, {}),
            ({"token": 7}, {}),
            ([], {}),
        ],
    )
    def test_what_is_no_login_is_not_taken_for_one(self, answer: Any, draft: dict[str, Any]) -> None:
        access = Access(CONTRACT)
        self.login(access, answer, **draft)
        assert dressed(access) == PLAIN

    def test_what_was_given_stays(self) -> None:
        access = Access(CONTRACT, (parse_credential("bearer:given"),))
        self.login(access, {"token": "other"})
        assert ("Authorization", "Bearer given") in dressed(access).headers

    def test_refused_again_and_again_it_logs_in_again(self) -> None:
        access = Access(CONTRACT)
        self.login(access, {"token": "t1"})
        asked = [access.listen(told(GET, 401)) for _ in range(3)]
        assert asked[:2] == [None, None]
        assert isinstance(asked[2], Draft)
        assert asked[2].operation is POST
        assert dressed(access) == PLAIN  # the old token is no longer worn

    def test_a_success_in_between_and_refusals_of_wrong_credentials_do_not_count(self) -> None:
        access = Access(CONTRACT)
        self.login(access, {"token": "t1"})
        for _ in range(5):
            assert access.listen(told(GET, 401)) is None
            assert access.listen(told(GET, 401, credentials="none")) is None
            assert access.listen(told(GET, 200)) is None
        assert access.handed_out is not None

    def test_tokens_of_earlier_logins_are_secrets_too(self) -> None:
        access = Access(CONTRACT)
        for name in ("first", "second"):
            self.login(access, {"token": name})
        assert {"first", "second"} <= set(access.secrets())


def test_a_real_service_is_entered_by_its_login_and_again_whenever_the_token_runs_out() -> None:
    """A token is good for four requests; only the login itself is open."""
    tokens: list[int] = []

    def answering(heard: Heard) -> Answer:
        if heard.path == "/login":
            if not isinstance(heard.body, dict) or not isinstance(heard.body.get("password"), str):
                return 401, {"detail": "who?"}
            tokens.append(4)
            return 200, {"access_token": f"token-{len(tokens)}"}
        if tokens and tokens[-1] > 0 and heard.headers.get("Authorization") == f"Bearer token-{len(tokens)}":
            tokens[-1] -= 1
            return 200, {"ok": True}
        return 401, {"detail": "log in"}

    asked_at: list[int] = []
    with served(answering) as small, service(CONTRACT, small) as reached:
        explorer = Explorer(CONTRACT, CONTRACT.operations, reached.send, 2)
        explorer._spent_on_probes = 1_000_000  # nothing is left for mere probes

        def listening(exchange: Exchange) -> Draft | None:
            login = reached.access.listen(exchange)
            asked_at.extend([exchange.number] if login else [])
            return login

        explorer.hears(listening)
        seen = [one.exchange for one in islice(explorer.turns(), 250)]

    assert len(asked_at) >= 2
    assert all(str(small.heard[number]) == "POST /login" for number in asked_at[:-1])  # at once, and never left out
    assert sum(one.ok for one in seen if one.operation is GET) > 20


class TestClientCredentials:
    SCHEMES = {  # noqa: RUF012
        "oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/o/token/", "scopes": {"read": "x"}}}}
    }

    def answering(self, heard: Heard) -> Answer:
        right = heard.headers.get("Authorization") == "Basic " + base64.b64encode(b"me:s3cret").decode()
        at_place = heard.path == "/o/token/" and b"grant_type=client_credentials" in heard.raw
        return (200, {"access_token": "abc"}) if right and at_place else (401, {"error": "invalid_client"})

    def got(self, given: str, schemes: dict[str, Any] | None = None) -> Credential:
        made = contract({"/x": {"get": does("200")}}, components={"securitySchemes": schemes or self.SCHEMES})
        with served(self.answering) as small, Client(small.origin) as client:
            return token(client, made, parse_client(given))

    def test_a_token_is_got_from_the_place_the_contract_names(self) -> None:
        assert self.got("oauth2:me:s3cret") == Credential("header", "Authorization", "Bearer abc")

    def test_wrong_ones_are_told_with_the_status(self) -> None:
        with pytest.raises(WhetError, match="401") as refused:
            self.got("oauth2:me:other-secret")
        assert "other-secret" not in str(refused.value)

    def test_another_origin_gets_nothing(self) -> None:
        with served(self.answering) as elsewhere:
            flows = {"clientCredentials": {"tokenUrl": f"{elsewhere.url}/o/token/", "scopes": {}}}
            with pytest.raises(WhetError, match="another origin"):
                self.got("oauth2:me:s3cret", {"oauth": {"type": "oauth2", "flows": flows}})
        assert elsewhere.heard == []

    @pytest.mark.parametrize("text", ["oauth2:", "oauth2:me", "oauth2:me:", "oauth2::x"])
    def test_half_of_them_is_refused(self, text: str) -> None:
        with pytest.raises(WhetError, match="oauth2:ID:SECRET"):
            parse_client(text)
        assert "s3cret" not in repr(ClientCredentials("me", "s3cret"))


def test_requests_carry_what_the_draft_says() -> None:
    with served(lambda _: (200, {})) as small, service(CONTRACT, small, parse_credential("header:X-Key=k1")) as reached:
        for credentials in ("given", "none", "wrong"):
            reached.send(Draft(GET, credentials=credentials))
    keys = [one.headers.get("X-Key") for one in small.heard]
    assert keys[:2] == ["k1", None]
    assert keys[2] not in ("k1", None)
