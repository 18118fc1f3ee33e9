"""Reports to look at and to write: a small shop with a fault of most kinds, and a service of 180 operations."""

import random
from dataclasses import replace

from tests.reports.api.sightings import contract, fault

from whet.reports.api.composing import fault_line
from whet.reports.api.model import (
    ApiReport,
    ChangeLine,
    CurvePoint,
    EdgeLine,
    FaultLine,
    OperationLine,
    UntestedLine,
)
from whet.reports.api.redaction import Secrets
from whet.skills.api.contract.model import Operation
from whet.skills.api.exchange import Draft, Exchange
from whet.skills.api.faults import Kind, Suspicion
from whet.tools.http.messages import Request, Response, Silence

HOSTILE = "</style><script>alert(1)</script>\x1b[31m\u202e<img src=x onerror=alert(1)>"
EMPTY = ApiReport("Service", "http://127.0.0.1:1", 1, 0, None, None)
URL = "http://127.0.0.1:8000"
JSON = ("Content-Type", "application/json")
NAMES = ("item", "order", "customer", "invoice", "shipment", "review", "warehouse", "supplier", "ticket", "voucher")


def exchange(
    method: str,
    path: str,
    target: str,
    status: int | None,
    body: bytes | None = None,
    answered: bytes = b"",
    silence: Silence | None = None,
) -> Exchange:
    operation = Operation(f"{method} {path}", method, path, (), (), ())
    headers = () if body is None else (JSON,)
    response = Response(status, (JSON, ("Server", "uvicorn")), answered, silence=silence)
    return Exchange(1, Draft(operation), Request(method, target, headers, body), response)


def line(kind: Kind, title: str, detail: str, *steps: Exchange) -> FaultLine:
    shown = fault(kind, *steps)
    suspicion = Suspicion(kind, steps[-1].operation.id, f"{kind} | {title}", title, detail)
    return fault_line(replace(shown, suspicion=suspicion), contract(), URL, Secrets())


def shop_faults() -> tuple[FaultLine, ...]:
    made = exchange("POST", "/items", "/items", 201, b'{"name": "lamp", "price": 12.5}', b'{"id": 41, "name": "lamp"}')
    trace = b'{"error": "ZeroDivisionError: division by zero", "at": "orders.py:88 in split"}'
    found = (
        line(
            Kind.SERVER_ERROR,
            "POST /orders fails with 500",
            "ZeroDivisionError: division by zero at orders.py:88 in split",
            made,
            exchange("POST", "/orders", "/orders", 500, b'{"item_id": 41, "parts": 0}', trace),
        ),
        line(
            Kind.MISSING_AUTH,
            "DELETE /customers/{customer_id} answers 204 without credentials",
            "The contract asks for bearer.",
            exchange("DELETE", "/customers/{customer_id}", "/customers/3", 204),
        ),
        line(
            Kind.SCHEMA_VIOLATION,
            "GET /items/{item_id} answers 200 with a body that breaks its schema at price",
            'price: "12.50" is not of type "number"',
            exchange("GET", "/items/{item_id}", "/items/41?currency=EUR", 200, None, b'{"id": 41, "price": "12.50"}'),
        ),
        line(
            Kind.CRASH,
            "POST /uploads cuts the connection",
            "The service closed the connection without an answer.",
            exchange("POST", "/uploads", "/uploads", None, b"\x89PNG\r\n\x1a\n\x00\xff", silence="dropped"),
        ),
        line(
            Kind.UNDOCUMENTED_STATUS,
            "GET /reviews answers 202, which the contract does not mention",
            "Documented are 200, 422.",
            exchange("GET", "/reviews", "/reviews?limit=10", 202, None, b"[]"),
        ),
    )
    return (*found[:2], replace(found[2], standing="known", seen=17), replace(found[3], confirmed=False), found[4])


def shop() -> ApiReport:
    operations = []
    for number, name in enumerate(NAMES[:6]):
        for place, (method, path) in enumerate(_five(name)):
            statuses = {"200": 40 - number * 3, "404": 11, "422": place * 4, "500": int(name == "order" and place == 1)}
            shown = {status: count for status, count in statuses.items() if count}
            reached = None if name == "review" and place == 3 else 3 + number * 9 + place
            operations.append(OperationLine(f"{method} {path}", sum(shown.values()), shown, reached, f"{name}s"))
    edges = _edges(NAMES[:6])
    fixed = replace(shop_faults()[4], title="GET /invoices answers 418", cause="old", standing="fixed", curl="curl x")
    return ApiReport(
        title="Lamp shop",
        base_url=URL,
        seed=7,
        requests=2000,
        budget_requests=2000,
        seconds=48.2,
        operations=tuple(operations),
        faults=(*shop_faults(), fixed),
        edges=tuple(edges),
        changes=(
            ChangeLine("GET /reviews lost the parameter sort.", True),
            ChangeLine("POST /vouchers is new.", False),
        ),
        curve=tuple(CurvePoint(n, min(29, int(n**0.6)), min(5, n // 300)) for n in range(0, 2001, 40)),
        notes=("Callbacks of POST /orders are not tested.",),
        untested=(UntestedLine("DELETE /suppliers/{supplier_id}", "--safe leaves out DELETE"),),
        document="openapi.json",
        earlier_runs=2,
    )


def hostile() -> ApiReport:
    report = shop()
    steps = tuple(replace(step, operation=HOSTILE, sent=HOSTILE, received=HOSTILE) for step in report.faults[0].steps)
    first = replace(report.faults[0], title=HOSTILE, detail=HOSTILE, cause=HOSTILE, curl=HOSTILE, steps=steps)
    return replace(
        report,
        title=HOSTILE,
        base_url=HOSTILE,
        document=HOSTILE,
        faults=(replace(first, operations=(HOSTILE, "b")),),
        operations=(OperationLine(HOSTILE, 1, {HOSTILE: 1}, None, HOSTILE),),
        edges=(EdgeLine(HOSTILE, HOSTILE, HOSTILE, HOSTILE, None),),
        changes=(ChangeLine(HOSTILE, True),),
        notes=(HOSTILE,),
        untested=(UntestedLine(HOSTILE, HOSTILE),),
    )


def large() -> ApiReport:
    dice = random.Random(3)
    names = [f"{name}{suffix}" for name in NAMES for suffix in ("", "-draft", "-archive")]
    rows = [(name, method, path) for name in names for method, path in [*_five(name), _sub(name)]]
    operations = tuple(
        OperationLine(f"{method} {path}", dice.randint(1, 60), {"200": dice.randint(1, 40), "404": 3}, 12, f"{name}s")
        for name, method, path in rows
    )
    return replace(shop(), title="Large", operations=operations, edges=tuple(_edges(names)))


def _five(name: str) -> list[tuple[str, str]]:
    one = f"/{name}s/{{{name.replace('-', '_')}_id}}"
    return [("GET", f"/{name}s"), ("POST", f"/{name}s"), ("GET", one), ("PUT", one), ("DELETE", one)]


def _sub(name: str) -> tuple[str, str]:
    return "GET", f"/{name}s/{{{name.replace('-', '_')}_id}}/attachments/{{attachment_id}}/versions/latest"


def _edges(names: tuple[str, ...] | list[str]) -> list[EdgeLine]:
    dice = random.Random(5)
    edges = []
    for number, name in enumerate(names):
        make, *takers = [f"{method} {path}" for method, path in [*_five(name)[1:], _sub(name)]]
        slot = f"{name.replace('-', '_')}_id"
        for taker in takers:
            worked = dice.randint(1, 40)
            edges.append(EdgeLine(make, "/id", taker, slot, worked / (worked + dice.randint(0, 9)), worked + 3, worked))
        before = names[number - 1]
        edges.append(EdgeLine(f"POST /{before}s", "/id", make, f"/{before}_id", dice.random(), 9, 4))
    return edges
