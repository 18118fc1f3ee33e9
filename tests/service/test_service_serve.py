"""`whet serve` as a process: what it says, what it logs, how it ends; and the client that talks to it."""

import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.cli.command_line import WHET, environment, whet
from tests.service.serving import Serving

from whet.client import Client, ServiceError
from whet.core.records import Situation
from whet.service.identifying import FRESH_SECONDS
from whet.service.listening import bound
from whet.service.logs import without_secrets
from whet.service.rest.samples import OUTCOME, STATE

WRONG = "whet_aaaaaaaaaaaa_" + "wrongsecret" * 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    (folder / "pyproject.toml").write_text("[project]\nname = 'shop'\n")
    return folder


@pytest.fixture(scope="module")
def serving(folder: Path) -> Iterator[tuple[Serving, str]]:
    started = Serving(folder, OTEL_TRACES_EXPORTER="console")
    try:
        yield started, started.first_key()
    finally:
        started.kill()


def test_it_says_where_it_is_and_who_reaches_it(serving: tuple[Serving, str]) -> None:
    started, key = serving
    assert re.fullmatch(r"Whet serves served\d* at http://127\.0\.0\.1:\d+", started.said[0])
    assert "this machine only" in started.said[1]
    assert httpx.get(f"{started.address}/healthz").json()["status"] == "ok"
    assert httpx.get(f"{started.address}/model/info", headers={"Authorization": f"Bearer {key}"}).status_code == 200


def test_the_client_decides_learns_and_reads(serving: tuple[Serving, str]) -> None:
    started, key = serving
    with Client(started.address, key) as client:
        run = client.begin_run(budget_seconds=60.0)
        decision = client.predict("test-executor", STATE, run=run, keep=True)
        learned, again = client.tell(decision, OUTCOME), client.tell(decision, OUTCOME)
        assert (learned.learned, again.learned, learned.reward) == (True, False, again.reward)
        assert client.reward("test-executor", STATE, decision.action, OUTCOME).raw == learned.reward.raw
        client.finish_run(run)
        assert [each.run.id for each in client.runs()] == [run]
        assert [each.decision.id for each in client.decisions(run=run)] == [decision.decision]
        assert client.decision(decision.decision).experience is not None
        assert [each.reward for each in client.rewards("test-executor")] == [learned.reward]
        assert {model.agent for model in client.models()} >= {"test-executor", "fleet-commander"}
        assert client.training().waiting == {}
        assert client.note("Prices are rounded half up.").new
        assert client.recall("prices")[0].why
        assert client.rate(run, 5).rewards_changed >= 0
        assert client.rule(decision.decision, "override", "run_fast_first").action == "run_fast_first"
        assert client.predict("test-executor", STATE).decided_by == "person"
        assert {entry.kind for entry in client.audit()} >= {"decided", "learned", "overridden", "key-added"}
        assert (list(client.findings()), list(client.candidates()), list(client.waiting())) == ([], [], [])
        assert "rl_average_reward" in client.metrics()


def test_the_client_tells_what_the_service_says(serving: tuple[Serving, str]) -> None:
    started, key = serving
    with Client(started.address, key) as client:
        with pytest.raises(ServiceError, match=r"There is no decision 'x'.*GET /api/v1/decisions") as caught:
            client.decision("x")
        assert caught.value.status == 404
        state = {**STATE, "situation": Situation(**STATE["situation"]).model_dump(), "num_tests": -1}
        with pytest.raises(ServiceError, match="num_tests"):
            client.predict("test-executor", state)
    with Client(started.address, WRONG) as stranger, pytest.raises(ServiceError, match="needs a key"):
        stranger.training()
    with Client("http://127.0.0.1:9", key) as nobody, pytest.raises(ServiceError, match="does not answer"):
        nobody.training()


def test_a_port_that_is_taken_is_said(serving: tuple[Serving, str], folder: Path) -> None:
    port = serving[0].address.rpartition(":")[2]
    refused = whet("serve", "--port", port, "-C", folder)
    assert refused.returncode == 2
    assert "Give another --port" in refused.stderr


def test_keys_are_made_listed_rotated_and_revoked(serving: tuple[Serving, str], folder: Path) -> None:
    started, _ = serving

    def status(key: str) -> int:
        return httpx.get(f"{started.address}/model/info", headers={"Authorization": f"Bearer {key}"}).status_code

    key = whet("keys", "-C", folder, "add", "QA lead", "--role", "viewer").stdout.strip()
    assert status(key) == 200
    key_id = key.split("_")[1]
    listed = whet("keys", "-C", folder, "list", "--format", "json").stdout
    assert [each["name"] for each in json.loads(listed)][-1] == "QA lead"
    assert key.split("_", 2)[2] not in listed
    renewed = whet("keys", "-C", folder, "rotate", key_id).stdout.strip()
    assert whet("keys", "-C", folder, "revoke", "nothing").returncode == 2
    time.sleep(1.2 * FRESH_SECONDS)
    assert (status(key), status(renewed)) == (401, 200)
    assert whet("keys", "-C", folder, "revoke", key_id).returncode == 0
    time.sleep(1.2 * FRESH_SECONDS)
    assert status(renewed) == 401


def test_it_ends_cleanly_and_has_told_no_secret(serving: tuple[Serving, str], folder: Path) -> None:
    """Last: it ends the server that the others use."""
    started, key = serving
    secret = key.split("_", 2)[2]
    browser = httpx.Client(base_url=started.address)
    cookie = browser.post("/login", data={"key": key}).headers["set-cookie"].split(";")[0].split("=", 1)[1]
    browser.get(f"/api/v1/runs/{key}", params={"key": key})
    browser.get("/nowhere", headers={"Authorization": f"Bearer {WRONG}"})
    browser.close()
    code, said = started.end(signal.SIGTERM)
    assert code == 0
    assert "Ended." in said
    lines = [json.loads(line) for line in started.errors.read_text().splitlines()]
    requests = [line for line in lines if line["message"] == "request"]
    assert {"method", "path", "status", "milliseconds", "who", "key"} <= set(
        requests[0] if "who" in requests[0] else requests[1]
    )
    assert any(line["status"] == 401 for line in requests)
    told = started.errors.read_text() + said
    for each in (secret, "wrongsecret", cookie, cookie.split(".")[1]):
        assert each not in told
    assert '"http.route": "/api/v1/runs/{run}"' in said  # a span on its way to the console
    again = Serving(folder)
    try:
        httpx.get(f"{again.address}/healthz", timeout=30.0)  # it waits in line until the server takes it
        code, said = again.end(signal.SIGINT)
    finally:
        again.kill()
    assert (code, "whet_" in said) == (0, False)


def test_ctrl_c_before_it_serves_ends_it_as_shells_count(tmp_path: Path) -> None:
    """It waits for a database that takes the connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(30.0)
        url = f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/whet"
        command = [str(WHET), "serve", "--port", "0", "-C", str(tmp_path)]
        starting = subprocess.Popen(command, env=environment(WHET_DATABASE_URL=url), stderr=subprocess.PIPE)
        with starting, silent.accept()[0]:
            starting.send_signal(signal.SIGINT)
            _, complaints = starting.communicate(timeout=30)
    assert (starting.returncode, complaints) == (130, b"")


def test_secrets_are_taken_out_of_every_text() -> None:
    text = (
        f"{WRONG} Bearer abc.def Basic YTpi postgresql://whet:hunter2@db/whet "
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
    )
    told = without_secrets(text)
    assert not any(each in told for each in ("wrongsecret", "abc.def", "YTpi", "hunter2", "c2lnbmF0dXJl"))
    assert "whet_aaaaaaaaaaaa_…" in told
    assert without_secrets("GET /predict 200") == "GET /predict 200"


def test_answers_do_not_wait_for_acknowledgements() -> None:
    """asyncio sets TCP_NODELAY only on sockets that name their protocol; otherwise every answer takes 40 ms."""
    with bound("127.0.0.1", 0) as taken:
        assert taken.proto == socket.IPPROTO_TCP
