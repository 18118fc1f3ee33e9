"""Faults as a run would hand them over: real exchanges with the broken service, judged by hand."""

import json
from typing import Any, Literal

from tests.reports.api.faulty_service import ITEM, TOKEN

from whet.skills.api.contract.model import Answer, Body, Contract, Operation
from whet.skills.api.exchange import NO_BODY, Draft, Exchange
from whet.skills.api.faults import Fault, Kind, Suspicion
from whet.tools.http.client import Client
from whet.tools.http.messages import Headers, Request
from whet.tools.http.origin import split_address

PATHS: dict[str, dict[str, Any]] = {
    "POST /items": {"201": ITEM, "422": None},
    "GET /items/{item_id}": {"200": None, "404": None},
    "PUT /items/{item_id}": {"200": None},
    "DELETE /items/{item_id}": {"204": None},
    "GET /named/{name}": {"200": None},
    "POST /orders": {"2XX": None},
    "POST /login": {"200": None},
    "GET /hangs": {"200": None},
    "GET /dies": {"200": None},
    "GET /private": {"200": None},
    "GET /profile": {"200": None},
    "GET /shape": {"200": ITEM},
    "GET /status": {"200": None},
    "GET /media": {"200": None},
}


SENT = {"type": "object", "properties": {"name": {"type": "string"}, "user": {"type": "string"}}}


def _operation(name: str, answers: dict[str, Any]) -> Operation:
    method, _, path = name.partition(" ")
    told = tuple(Answer(status, {"application/json": schema}) for status, schema in answers.items())
    bodies = (Body("application/json", SENT, required=True),) if method in ("POST", "PUT") else ()
    return Operation(name, method, path, (), bodies, told)


def contract() -> Contract:
    document = {"components": {"schemas": {"Id": {"type": "integer"}}}}
    operations = tuple(_operation(name, answers) for name, answers in PATHS.items())
    return Contract("Faulty", "1", "openapi-3.0", "", operations, document, {})


class Tour:
    """Sends requests and keeps the exchanges."""

    def __init__(self, url: str) -> None:
        self.client = Client(split_address(url)[0], timeout_seconds=0.5)
        self.contract = contract()

    def send(
        self,
        operation: str,
        target: str | None = None,
        body: Any = None,
        headers: Headers = (),
        credentials: Literal["given", "none", "wrong"] = "given",
    ) -> Exchange:
        known = self.contract.operation(operation)
        assert known is not None
        typed = (("Content-Type", "application/json"),) if body is not None else ()
        raw = None if body is None else json.dumps(body).encode()
        request = Request(known.method, target or known.path, typed + headers, raw)
        draft = Draft(known, body=NO_BODY if body is None else body, credentials=credentials)
        return Exchange(1, draft, request, self.client.send(request))

    def create(self, name: str) -> tuple[Exchange, int]:
        exchange = self.send("POST /items", body={"name": name})
        return exchange, json.loads(exchange.response.body)["id"]


def fault(kind: Kind, *steps: Exchange) -> Fault:
    last = steps[-1]
    title = f"{last.operation.id} is wrong"
    return Fault(Suspicion(kind, last.operation.id, f"{kind} | {last.operation.id}", title, "It is."), steps, True)


def faults(url: str) -> list[Fault]:
    """One of each kind, found on the broken service at this address."""
    tour = Tour(url)
    bearer = (("Authorization", f"Bearer {TOKEN}"),)
    made, number = tour.create("ordered")
    other, changed = tour.create("changed")
    gone, deleted = tour.create("deleted")
    lost, vanished = tour.create("vanishes")
    named, _ = tour.create("named")
    found = [
        fault(Kind.SERVER_ERROR, tour.send("POST /items", body={"name": "boom"})),
        fault(Kind.SERVER_ERROR, made, tour.send("POST /orders", body={"amount": number, "item_id": number})),
        fault(
            Kind.SERVER_ERROR, tour.send("POST /login", body={"user": "kim"}), tour.send("GET /profile", headers=bearer)
        ),
        fault(Kind.SERVER_ERROR, named, tour.send("GET /named/{name}", "/named/named")),
        fault(Kind.SCHEMA_VIOLATION, tour.send("GET /shape")),
        fault(Kind.UNDOCUMENTED_STATUS, tour.send("GET /status")),
        fault(Kind.UNDOCUMENTED_MEDIA, tour.send("GET /media")),
        fault(Kind.INVALID_ACCEPTED, tour.send("POST /items", body={"name": 5})),
        fault(Kind.VALID_REFUSED, tour.send("POST /items", body={"name": "refused"})),
        fault(
            Kind.READ_AFTER_DELETE,
            gone,
            tour.send("DELETE /items/{item_id}", f"/items/{deleted}"),
            tour.send("GET /items/{item_id}", f"/items/{deleted}"),
        ),
        fault(
            Kind.LOST_UPDATE,
            other,
            tour.send("PUT /items/{item_id}", f"/items/{changed}", {"name": "after"}),
            tour.send("GET /items/{item_id}", f"/items/{changed}?fields=name"),
        ),
        fault(Kind.NOT_CREATED, lost, tour.send("GET /items/{item_id}", f"/items/{vanished}")),
        fault(Kind.MISSING_AUTH, tour.send("GET /private", credentials="none")),
        fault(
            Kind.MISSING_AUTH,
            tour.send("GET /private", headers=(("Authorization", "Bearer wrong"),), credentials="wrong"),
        ),
        fault(Kind.TIMEOUT, tour.send("GET /hangs")),
        fault(Kind.CRASH, tour.send("GET /dies")),
    ]
    tour.client.close()
    return found
