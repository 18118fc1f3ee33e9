"""What is gone is not built on any more, whoever goes on naming it; what belonged to it is doubted."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from tests.skills.api.small_service import Answer, Heard, contract, does, exploring, in_path, operation, record, served
from tests.skills.api.small_service import told as exchange

from whet.skills.api.exchange import Draft
from whet.skills.api.learning.dependencies import Edge
from whet.skills.api.learning.drafting import Made
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.gone import MOST, Gone
from whet.skills.api.learning.novelty import News
from whet.skills.api.learning.recall import Taken
from whet.skills.api.learning.sequencing import Step
from whet.skills.api.values.slots import Slot, Source

FLOW, RUN = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "123e4567-e89b-42d3-a456-426614174000"
NO_NEWS = News(False, False, False, False)
ONE = (in_path("id", "string"),)
CONTRACT = contract({
    "/flows": {"post": does("201", body=record(("name",), name={"type": "string"}))},
    "/flows/{id}": {method: does("200", "404", parameters=ONE) for method in ("get", "delete")},
    "/flow_runs": {"post": does("201", "409", body=record(("flow_id",), flow_id={"type": "string"}))},
    "/flow_runs/{id}": {method: does("200", "404", parameters=ONE) for method in ("get", "patch")},
    "/flow_runs/{id}/labels": {"patch": does("200", "404", parameters=ONE)},
})  # fmt: skip


@pytest.fixture
def entities() -> Entities:
    made = Entities(random.Random(0))
    made.take_in(exchange(operation(CONTRACT, "POST /flows"), 201, {"id": FLOW, "name": "tidy-up-daily"}))
    made.take_in(exchange(operation(CONTRACT, "POST /flow_runs"), 201, {"id": RUN, "flow_id": FLOW}))
    return made


def end(entities: Entities, name: str, **path: Any) -> None:
    entities.end(exchange(operation(CONTRACT, name), 200, path=path))


def test_who_names_what_is_gone_is_doubted_and_names_it_in_vain(entities: Entities) -> None:
    (run,) = entities.alive("/flow_runs")
    assert not entities.is_dangling(run, "flow_id")
    end(entities, "DELETE /flows/{id}", id=FLOW)
    assert entities.is_dangling(run, "flow_id")
    assert not entities.is_dangling(run, "id")
    assert (run.alive, run.doubtful) == (True, True)
    entities.found(run)
    assert not run.doubtful, "it stayed when the flow went"


def test_what_is_not_found_is_lost_but_its_neighbours_field_only_names_what_was(entities: Entities) -> None:
    (run,) = entities.alive("/flow_runs")
    entities.not_found(run, "flow_id")
    assert run.alive
    assert (entities.is_lost(run, "flow_id"), entities.is_lost(run, "id"), entities.is_lost(run, None)) == (
        True, False, False,
    )  # fmt: skip
    entities.not_found(run, "id")
    assert not run.alive
    assert entities.is_lost(run, None)


def test_what_is_shown_again_is_back(entities: Entities) -> None:
    end(entities, "DELETE /flows/{id}", id=FLOW)
    entities.take_in(exchange(operation(CONTRACT, "GET /flows/{id}"), 200, {"id": FLOW}, path={"id": FLOW}))
    assert not entities.is_dangling(entities.alive("/flow_runs")[0], "flow_id")


def test_doubtful_ones_are_taken_only_where_there_are_no_others(entities: Entities) -> None:
    entities.take_in(exchange(operation(CONTRACT, "POST /flow_runs"), 201, {"id": "second-run", "flow_id": "f2"}))
    first, second = entities.alive("/flow_runs")
    second.doubtful = True
    assert {entities.pick([first, second]).fields["id"] for _ in range(30)} == {RUN}
    first.doubtful = True
    assert {entities.pick([first, second]).fields["id"] for _ in range(30)} == {RUN, "second-run"}


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("flow_id", 7, True),
        ("parent_flow_id", 7, True),
        ("state.flowId", 7, True),
        ("flow_id", 8, False),
        ("deployment_id", 7, False),
        ("count", 7, False),
        ("id", 7, False),
        ("whatever", "tidy-up-daily", True),
        ("whatever", "tidy", False),
        ("flow_name", "tidy", False),
    ],
)
def test_a_number_counts_with_what_the_thing_is_called_and_a_telling_text_anywhere(
    field: str, value: Any, named: bool
) -> None:
    gone = Gone()
    gone.add("/flows", [{"id": 7, "name": "tidy-up-daily"}])
    assert gone.is_named(field, value) is named


def test_what_is_remembered_as_gone_is_bounded() -> None:
    gone = Gone()
    for number in range(2 * MOST):
        gone.add("/flows", (), number)
    assert [gone.is_named("flow_id", number) for number in (0, MOST - 1, MOST, 2 * MOST - 1)] == [
        False,
        False,
        True,
        True,
    ]


class Flows:
    """Deleting a flow takes its runs along. Labels are put on runs that are there."""

    def __init__(self) -> None:
        self.flows: set[str] = set()
        self.runs: dict[str, str] = {}
        self.in_vain = 0  # runs of flows that are gone
        self._numbers = iter(range(10**8, 10**9))

    def __call__(self, heard: Heard) -> Answer:
        match heard.path.strip("/").split("/"), heard.method:
            case ["flows"], _:
                return self._flow(heard.body)
            case ["flow_runs"], _:
                return self._run(heard.body)
            case ["flows", one], method:
                return self._found(one in self.flows, {"id": one}, self._delete(one) if method == "DELETE" else ())
            case ["flow_runs", one, *_], _:
                return self._found(one in self.runs, {"id": one, "flow_id": self.runs.get(one)}, ())
        return 404, None

    def _flow(self, body: Any) -> Answer:
        name = body.get("name") if isinstance(body, dict) else None
        if not isinstance(name, str):
            return 422, {"detail": "name"}
        self.flows.add(made := f"flow-{next(self._numbers)}")
        return 201, {"id": made, "name": name}

    def _run(self, body: Any) -> Answer:
        flow = body.get("flow_id") if isinstance(body, dict) else None
        if flow not in self.flows:
            self.in_vain += isinstance(flow, str) and flow.startswith("flow-")
            return 409, {"detail": "integrity"}
        self.runs[made := f"run-{next(self._numbers)}"] = flow
        return 201, {"id": made, "flow_id": flow}

    def _delete(self, flow: str) -> Iterator[str]:
        self.flows.discard(flow)
        yield from [run for run, of in self.runs.items() if of == flow]

    def _found(self, there: bool, thing: dict[str, Any], taken_along: Iterator[str] | tuple[str, ...]) -> Answer:
        for run in taken_along:
            del self.runs[run]
        return (200, thing) if there else (404, {"detail": "not found"})


@pytest.mark.parametrize(("field", "at_first"), [("sent.slug", False), ("id", True)])
def test_what_an_operation_that_never_worked_does_not_find_is_doubted_once_others_found_it(
    field: str, at_first: bool
) -> None:
    """Before, it may be the wrong field, unless names leave no doubt."""
    read, change = operation(CONTRACT, "GET /flow_runs/{id}"), operation(CONTRACT, "PATCH /flow_runs/{id}")
    with served(Flows()) as small, exploring(CONTRACT, small) as explorer:
        made = exchange(operation(CONTRACT, "POST /flow_runs"), 201, {"id": RUN}, body={"slug": RUN})
        explorer.entities.take_in(made)
        (run,) = explorer.entities.alive("/flow_runs")
        for status, of, doubtful in ((404, change, at_first), (200, read, False), (404, change, True)):
            edge = Edge(Slot(of.id, "path.id", {"type": "string"}, True), "/flow_runs", field)
            request = Made(Draft(of, {"id": RUN}), {"path.id": Source.OBSERVED}, {"path.id": Taken(RUN, edge, run)})
            explorer._lessons.learn(Step(of, None), request, exchange(of, status, path={"id": RUN}), NO_NEWS)
            assert (run.alive, run.doubtful) == (True, doubtful)


@pytest.mark.parametrize("seed", range(5))
def test_runs_are_not_made_of_flows_that_are_gone_and_what_never_worked_gets_a_fresh_run(seed: int) -> None:
    flows = Flows()
    with served(flows) as small, exploring(CONTRACT, small, seed) as explorer:
        turns = explorer.turns()
        seen = [next(turns) for _ in range(250)]
    worked = {one.exchange.operation.id for one in seen if one.exchange.ok and one.exchange.draft.mutation is None}
    assert worked == {one.id for one in CONTRACT.operations}
    tried = [one for one in small.heard if one.path == "/flow_runs"]
    assert flows.in_vain <= len(tried) / 10


def test_what_an_answer_says_was_deleted_is_gone_and_who_names_it_is_doubted() -> None:
    made = contract({
        "/flows": {"post": does("201")}, "/flow_runs": {"post": does("201")},
        "/flows/bulk_delete": {"post": does("200")}, "/desks": {"post": does("201")},
    })  # fmt: skip
    entities = Entities(random.Random(0))
    for number, name in enumerate("abc", 1):
        flow = f"flow-{name}-1234567"
        entities.take_in(exchange(operation(made, "POST /flows"), 201, {"id": flow}, number=number))
        run = {"id": f"run-{name}-1234567", "flow_id": flow}
        entities.take_in(exchange(operation(made, "POST /flow_runs"), 201, run, number=10 + number))
        entities.take_in(exchange(operation(made, "POST /desks"), 201, {"id": flow}, number=20 + number))
    many = operation(made, "POST /flows/bulk_delete")
    entities.end_told(exchange(many, 200, {"deleted": ["flow-a-1234567"], "skipped": ["flow-c-1234567"]}))
    entities.end_told(exchange(many, 200, {"removedFlows": [{"id": "flow-b-1234567"}], "deleted": True}))
    entities.end_told(exchange(many, 200, ["flow-c-1234567"]))
    assert [one.fields["id"] for one in entities.alive("/flows")] == ["flow-c-1234567"]
    assert [one.doubtful for one in entities.alive("/flow_runs")] == [True, True, False]
    assert len(entities.alive("/desks")) == 3  # they only go by the same names


def test_a_service_that_deletes_many_at_once_is_believed() -> None:
    made = contract({"/flows": {"post": does("201")}, "/flows/delete_all": {"post": does("200")}})
    flows: list[str] = []

    def answering(heard: Heard) -> Answer:
        if heard.path == "/flows":
            flows.append(f"flow-{len(flows)}-1234567")
            return 201, {"id": flows[-1]}
        gone = [*flows]
        flows.clear()
        return 200, {"deleted": gone}

    with served(answering) as small, exploring(made, small) as explorer:
        turns = explorer.turns()
        for _ in range(40):
            next(turns)
            assert {one.fields["id"] for one in explorer.entities.alive("/flows")} <= set(flows)


def test_a_thing_is_doubted_however_often_it_was_met() -> None:
    entities = Entities(random.Random(0))
    flows = operation(CONTRACT, "POST /flows")
    for number, flow in enumerate(("flow-a-1234567", "flow-a-1234567", "flow-b-1234567"), 1):
        entities.take_in(exchange(flows, 201, {"id": flow}, number=number))
    one, again, other = entities.alive("/flows")
    entities.doubt(one)
    assert (one.doubtful, again.doubtful, other.doubtful) == (True, True, False)
    entities.found(again)
    assert not one.doubtful


def test_where_what_the_path_named_was_gone_a_refusal_says_little() -> None:
    read, change = operation(CONTRACT, "GET /flow_runs/{id}"), operation(CONTRACT, "PATCH /flow_runs/{id}")
    with served(Flows()) as small, exploring(CONTRACT, small) as explorer:
        explorer.entities.take_in(exchange(operation(CONTRACT, "POST /flow_runs"), 201, {"id": RUN}))
        (run,) = explorer.entities.alive("/flow_runs")
        for of, place in ((read, "path.id"), (change, "body.id")):
            edge = Edge(Slot(of.id, place, {"type": "string"}, True), "/flow_runs", "id")
            request = Made(Draft(of, {"id": RUN}), {place: Source.OBSERVED}, {place: Taken(RUN, edge, run)})
            explorer._lessons.learn(Step(of, None), request, exchange(of, 404, path={"id": RUN}), NO_NEWS)
        refusals = explorer.sequencing.refusals
        assert refusals(read) == refusals(change) / 2


def test_what_has_found_nothing_hardly_speaks_for_the_way_it_went() -> None:
    """Whatever it was asked with, it would have answered the same."""
    read = operation(CONTRACT, "GET /flow_runs/{id}")
    beliefs = []
    answers: tuple[Any, ...] = ([], {"id": RUN})
    for answer in answers:
        with served(Flows()) as small, exploring(CONTRACT, small) as explorer:
            explorer.entities.take_in(exchange(operation(CONTRACT, "POST /flows"), 201, {"id": RUN}))
            (flow,) = explorer.entities.alive("/flows")
            slot = Slot(read.id, "path.id", {"type": "string"}, True)
            taken = {"path.id": Taken(RUN, Edge(slot, "/flows", "id"), flow)}
            before = explorer.dependencies.promise(slot)
            request = Made(Draft(read, {"id": RUN}), {"path.id": Source.OBSERVED}, taken)
            explorer._lessons.learn(Step(read, None), request, exchange(read, 200, answer, path={"id": RUN}), NO_NEWS)
            beliefs.append(explorer.dependencies.promise(slot) - before)
    assert 0 < beliefs[0] < beliefs[1] / 2
