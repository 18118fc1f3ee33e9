"""No credential is in anything that is written, in whatever form it had travelled."""

import base64
import html
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rich.console import Console
from tests.reports.api.api_reports import EMPTY, URL, shop
from tests.reports.api.sightings import contract

from whet.reports.api.composing import fault_line
from whet.reports.api.github import annotations, step_summary
from whet.reports.api.html import render_html
from whet.reports.api.jsonout import render_json
from whet.reports.api.junit import render_junit
from whet.reports.api.model import ApiReport, ChangeLine, EdgeLine, OperationLine, UntestedLine
from whet.reports.api.pytest_file import module_source
from whet.reports.api.redaction import Secrets, without_userinfo
from whet.reports.api.sarif import render_sarif
from whet.reports.api.terminal import print_report
from whet.skills.api.contract.model import Operation
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Fault, Kind, Suspicion
from whet.tools.http.messages import Request, Response


def outputs(report: ApiReport) -> dict[str, str]:
    stream = io.StringIO()
    print_report(report, Console(file=stream, width=10_000, highlight=False))
    return {
        "html": html.unescape(render_html(report).replace("<wbr>", "")),
        "junit": html.unescape(render_junit(report)),
        "sarif": render_sarif(report),
        "json": render_json(report),
        "github": html.unescape(step_summary(report)) + "\n".join(annotations(report)),
        "terminal": stream.getvalue(),
        "tests": module_source(report),
    }


def forms(secret: str) -> Iterator[str]:
    encoded = secret.encode()
    yield from (secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1], repr(secret)[1:-1])
    for around in (encoded, b"user:" + encoded, b"u:" + encoded + b"x"):
        yield base64.b64encode(around).decode()
        yield base64.urlsafe_b64encode(around).decode()


def telling_report(secret: str) -> ApiReport:
    """The secret in every place that a service or a run could bring it to."""
    basic = base64.b64encode(b"user:" + secret.encode()).decode()
    path = f"/login/{quote(secret, safe='')}?key={quote_plus(secret)}&page=2"
    body = json.dumps({"secret text": secret, "user": {"note": f"x{secret}x"}, "list": [secret]}).encode()
    sent = (("Authorization", f"Basic {basic}"), ("X-Note", f"a{secret}"), ("Cookie", f"sid={secret}; theme=dark"))
    back = (("Set-Cookie", f"sid={secret}; Path=/"), ("Location", path), ("X-Echo", secret))
    operation = Operation("POST /login/{name}", "POST", "/login/{name}", (), (), ())
    exchange = Exchange(1, Draft(operation), Request("POST", path, sent, body), Response(500, back, body))
    suspicion = Suspicion(Kind.SERVER_ERROR, operation.id, f"cause {secret}", f"title {secret}", f"It said {secret}")
    line = fault_line(Fault(suspicion, (exchange, exchange), True), contract(), URL, Secrets([secret]))
    assert secret not in line.title + line.detail + line.cause + line.curl
    report = ApiReport(
        title=secret,
        base_url=without_userinfo(f"http://user:{quote(secret, safe='')}@127.0.0.1:8000"),
        seed=1,
        requests=2,
        budget_requests=None,
        seconds=None,
        operations=(OperationLine(f"GET /{secret}", 1, {"200": 1}, 1, secret),),
        faults=(line,),
        edges=(EdgeLine(secret, secret, secret, secret, 0.5),),
        changes=(ChangeLine(secret, True),),
        notes=(f"note {secret}", basic),
        untested=(UntestedLine(secret, secret),),
        document=f"http://x/{quote(secret)}",
    )
    return Secrets([secret]).hidden_in(report)


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=8, max_size=24)
known = st.sampled_from(["p&<a>'\"s%s/w+ö rd", "hunter22", "\\x41\n\t\x00abcd", "********a", ";0000000"])


@settings(max_examples=60, deadline=None)
@given(secret=texts | known)
def test_no_output_holds_a_secret(secret: str) -> None:
    assume(all(form not in text for form in forms(secret) for text in BASELINE))
    for name, text in outputs(telling_report(secret)).items():
        assert [form for form in forms(secret) if form in text] == [], name


# What is there anyway: words that happen to be someone's password cannot be kept out of the page's own headings.
BASELINE = list(outputs(telling_report("\uabcd\uabce\uabcf\uabd0\uabd1\uabd2\uabd3")).values())


def repeated(secret: str) -> Iterator[str]:
    """As services repeat what they were sent."""
    cased = (secret, secret.upper(), secret.lower(), secret.swapcase(), secret[::-1], secret[::-1].upper())
    for one in (*cased, secret.encode("ascii", "replace").decode(), secret.encode().decode("latin-1")):
        for written in (one, json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1]):
            yield from (written, json.dumps(written)[1:-1], json.dumps(written, ensure_ascii=False)[1:-1])
        yield from (quote(one, safe=""), quote_plus(one), quote(quote(one, safe=""), safe=""), quote(one).lower())
        yield from (html.escape(one), one.replace("&", "&amp;").replace("<", "&lt;"))


@pytest.mark.parametrize(
    "secret",
    ["SeKrEt-token-42", 'SeKrEt"q\\tok/en+1=é', "'<S&E>' \\\\KR\\nET", "ключ от двери", "half \ud800 of it"],
    ids=ascii,
)
def test_a_secret_is_known_in_whatever_form_it_comes_back(secret: str) -> None:
    secrets = Secrets([secret])
    whole = [one for one in repeated(secret) if "\ud800" not in one] if "\ud800" not in secret else [secret]
    for form in whole:
        assert secrets.text(f"before {form} after") == "before *** after"
        assert secrets.raw(f"before {form} after".encode("utf-8", "surrogatepass")) == b"before *** after"
        body = json.dumps({"error": f"failed for {form}"}, ensure_ascii=True).encode()
        assert json.loads(secrets.body_for_reading(body)) == {"error": "failed for ***"}


def test_a_short_secret_in_other_letters_may_be_another_word() -> None:
    assert Secrets(["left"]).text("Left over, felt: left, L%C3%A9eft") == "Left over, felt: ***, L%C3%A9eft"


def read(document: Any) -> Any:
    return json.loads(Secrets().body_for_reading(json.dumps(document).encode()))


def test_what_is_called_a_secret_is_hidden_from_readers() -> None:
    told = {"name": "kim", "password": "a", "nested": [{"access_token": "b", "apiKey": 5, "token_count": None}]}
    assert read(told) == {
        "name": "kim",
        "password": "***",
        "nested": [{"access_token": "***", "apiKey": "***", "token_count": None}],
    }
    assert read({"has_password": True, "token": "", "secrets": ["kept"]}) == {
        "has_password": True,
        "token": "",
        "secrets": ["kept"],
    }


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"user=kim&password=hunter&x=1", "user=kim&password=***&x=1"),
        (b'{"user": "kim", "refresh_token": "abc\\"d", "cut', '{"user": "kim", "refresh_token": "***", "cut'),
        (b"api_key: 12345, next", "api_key: ***, next"),
        (b"\xff\xfe password=1", "\\xff\\xfe password=***"),
        (b"nothing to hide", "nothing to hide"),
    ],
)
def test_secrets_in_text_that_is_no_document(body: bytes, shown: str) -> None:
    assert Secrets().body_for_reading(body) == shown


def test_requests_keep_what_was_made_up_for_them() -> None:
    """A fault in the length of a password needs the password; the credentials of the run are never needed."""
    body = b'{"password": "made-up", "other": "given-one"}'
    request = Request("POST", "/users?api_key=k1&token=t", (("Authorization", "Bearer abc"), ("X-Own", "q")), body)
    hidden = Secrets(["given-one"], ["X-Own", "api_key"]).request(request)
    assert hidden.body == b'{"password": "made-up", "other": "***"}'
    assert hidden.headers == (("Authorization", "Bearer ***"), ("X-Own", "***"))
    assert hidden.target == "/users?api_key=***&token=t"
    assert Secrets().target_for_reading("/users?api_key=k1&token=t&n=1") == "/users?api_key=***&token=***&n=1"


def test_cookies_lose_their_values_alone() -> None:
    request = Request("GET", "/", (("Cookie", "sid=abc; theme=dark"),))
    assert Secrets().request(request).headers == (("Cookie", "sid=***; theme=***"),)
    back = (("Set-Cookie", "sid=abc; Path=/; HttpOnly"), ("X-Session-Id", "5"), ("Content-Type", "a/b"))
    assert Secrets().headers_for_reading(back) == (
        ("Set-Cookie", "sid=***; Path=/; HttpOnly"),
        ("X-Session-Id", "***"),
        ("Content-Type", "a/b"),
    )


def test_short_values_are_hidden_by_their_place_alone() -> None:
    secrets = Secrets(["abc"])
    assert secrets.text("the abc of it") == "the abc of it"
    assert secrets.request(Request("GET", "/", (("Authorization", "abc"),))).headers == (("Authorization", "***"),)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://kim:pw@host:80/a?b", "http://host:80/a?b"),
        ("https://token@host", "https://host"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_addresses_lose_user_and_password(url: str, shown: str) -> None:
    assert without_userinfo(url) == shown


def test_a_report_without_secrets_stays_as_it_is() -> None:
    for report in (shop(), EMPTY):
        assert Secrets().hidden_in(report) == report
        assert Secrets(["not in it at all"]).hidden_in(replace(report, seed=3)) == replace(report, seed=3)
