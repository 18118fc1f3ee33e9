"""Pages without a browser: a project without a past, forms without their token, and the numbers behind the overview."""

import math
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from whet.bootstrap.site import open_site
from whet.core.feedback import Rated
from whet.core.people import Role
from whet.core.records import now
from whet.core.views import DayTotal
from whet.service.app import create_app
from whet.service.keys import mint, service_secret
from whet.service.pages.charts import Line, Point, lines
from whet.service.pages.estimates import NOTHING, Estimate, Trend, count, mean_reward, stars, success_rate
from whet.service.pages.resources import alert, spent_in
from whet.settings.cost import Cost

ADVICE = {
    "/": "Start one: whet run",
    "/runs": "No run yet",
    "/findings": "Nothing was found yet",
    "/decisions": "Nothing was decided yet",
    "/review": "Nothing waits for you",
    "/learning": "Nothing was learned yet",
    "/models": "No policy was trained yet",
    "/experiments": "No experiment yet",
    "/rewards": "There are no outcomes yet",
    "/memory": "Nothing is remembered yet",
    "/resources": "Costs are unknown: no price is set.",
}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "empty"\n')
    site = open_site(tmp_path)
    with site.store() as store:
        key = mint(service_secret(site), "ada", Role.ADMIN)
        store.people.add(key.kept, "the test", now())
        headers = {"host": "127.0.0.1", "accept": "text/html"}
        with TestClient(create_app(site, store), headers=headers, follow_redirects=False) as opened:
            opened.headers["x-key"] = key.text
            yield opened


def _authorised(client: TestClient) -> dict[str, str]:
    return {"authorization": f"Bearer {client.headers['x-key']}"}


def test_a_project_without_a_past_is_told_what_to_do(client: TestClient) -> None:
    for path, advice in ADVICE.items():
        answer = client.get(path, headers=_authorised(client))
        assert (answer.status_code, advice in answer.text) == (200, True), path
        assert "<style" not in answer.text
        assert "style=" not in answer.text
        assert "onclick" not in answer.text


def test_what_does_not_exist_is_said(client: TestClient) -> None:
    for path in ("/runs/x", "/findings/x", "/decisions/x", "/models/9", "/models/-1", "/memory/x/forget", "/static/x"):
        assert client.get(path, headers=_authorised(client)).status_code == 404, path
    for path in (
        "/findings?kind=x",
        "/?days=3",
        "/runs?before=-1",
        "/rewards?weight.nothing=1",
        "/rewards?weight.bugs_found=nan",
    ):
        assert client.get(path, headers=_authorised(client)).status_code == 422, path


def test_a_form_of_a_session_needs_its_token(client: TestClient) -> None:
    client.post("/login", data={"key": client.headers["x-key"]})
    assert client.get("/rewards").status_code == 200
    assert client.post("/rewards/drop").status_code == 403
    assert client.post("/rewards/drop", data={"csrf": "0" * 64}).status_code == 403
    token = client.get("/rewards").text.split('name="csrf" value="')[1].split('"')[0]
    assert client.post("/rewards/drop", data={"csrf": token}).status_code == 303


def test_a_page_says_only_sentences_of_its_own(client: TestClient) -> None:
    assert "pwned" not in client.get("/runs?said=pwned", headers=_authorised(client)).text
    assert "Your rating is kept." in client.get("/runs?said=rated", headers=_authorised(client)).text


_RUNS = st.lists(
    st.lists(st.tuples(st.floats(-100, 100), st.booleans()), min_size=1, max_size=6), min_size=5, max_size=12
)


def _total(runs: list[list[tuple[float, bool]]]) -> DayTotal:
    sums = [(sum(r for r, _ in run), float(len(run)), float(sum(ok for _, ok in run))) for run in runs]
    rewards, judged, successes = ([each[place] for each in sums] for place in range(3))

    def products(one: list[float], other: list[float]) -> float:
        return math.fsum(a * b for a, b in zip(one, other, strict=True))

    return DayTotal(
        date(2026, 1, 1),
        len(runs),
        int(sum(judged)),
        int(sum(judged)),
        sum(rewards),
        int(sum(successes)),
        products(rewards, rewards),
        products(rewards, judged),
        products(judged, judged),
        products(successes, successes),
        products(successes, judged),
        0.0,
    )


@given(_RUNS)
def test_the_error_of_a_mean_is_that_of_runs_not_of_decisions(runs: list[list[tuple[float, bool]]]) -> None:
    found = mean_reward([_total(runs)])
    judged = sum(len(run) for run in runs)
    mean = sum(r for run in runs for r, _ in run) / judged
    residuals = [(sum(r for r, _ in run) - mean * len(run)) ** 2 for run in runs]
    error = 1.96 * math.sqrt(math.fsum(residuals) * len(runs) / (len(runs) - 1)) / judged
    assert found.value == pytest.approx(mean, abs=1e-9)
    assert found.error == pytest.approx(error, rel=1e-3, abs=1e-4)


def test_unknown_stays_unknown() -> None:
    assert mean_reward([]) == success_rate([]) == stars(Rated(0, 0, 0)) == count(3, 0) == NOTHING
    assert mean_reward([_total([[(1.0, True)]] * 4)]) == Estimate(1.0, None, 4)
    assert success_rate([_total([[(1.0, True)]] * 30)]).error == pytest.approx(0.1), "never in 30 is not never"
    unknown = Trend(Estimate(1.0, 0.1, 9), NOTHING)
    assert (unknown.change, unknown.verdict) == (NOTHING, "unknown")
    assert Trend(Estimate(5.0, 1.0, 9), Estimate(1.0, 1.0, 9)).verdict == "up"
    assert Trend(Estimate(1.5, 1.0, 9), Estimate(1.0, 1.0, 9)).verdict == "no clear change"
    assert lines("nothing", [Line("x", [Point(date(2026, 1, 1), 1.0)])]) == ""


def test_numbers_beside_a_chart_are_told_apart() -> None:
    days = [Point(date(2026, 1, day), 0.0150 + 0.001 * day) for day in range(1, 5)]
    told = re.findall(r'class="tick end" x="11%"[^>]*>([^<]+)<', lines("hours", [Line("x", days)], "{:.2f}"))
    assert len({*told}) == len(told) == 3


def test_costs_come_from_prices_and_budgets_warn() -> None:
    total = _total([[(1.0, True)]] * 5)._replace(seconds=7200.0)
    month = date(2026, 1, 1)
    assert spent_in(month, [total], Cost()).cost is None
    price = Cost(per_hour=3.0, monthly_budget=7.0)
    spent = spent_in(month, [total], price)
    assert (spent.cost, spent.per_run) == (6.0, 1.2)
    assert spent.of_budget == pytest.approx(6 / 7)
    assert "86%" in str(alert(spent, price))
    free = Cost(per_hour=3.0)
    assert alert(spent_in(month, [total], free), free) is None
    assert "is spent" in str(
        alert(spent_in(month, [total], Cost(per_hour=9.0, monthly_budget=7.0)), Cost(per_hour=9.0, monthly_budget=7.0))
    )
