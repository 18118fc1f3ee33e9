"""The second run: what worked works again at once, on a service whose ids are all new."""

from itertools import islice

import pytest
from tests.skills.api.shop_service import SHOP, TEXT, Shop
from tests.skills.api.small_service import (
    Answer,
    Heard,
    Small,
    contract,
    does,
    exploring,
    in_path,
    operation,
    record,
    served,
    service,
    told,
)

from whet.skills.api import knowledge as memory
from whet.skills.api.campaign import Budget, Campaign
from whet.skills.api.explorer import Explorer
from whet.skills.api.faults import Kind
from whet.skills.api.learning.trail import WORKS
from whet.skills.api.oracles.causes import without_way


def ran(shop: Shop, known: memory.Knowledge, requests: int = 400, seed: int = 1) -> tuple[Campaign, Explorer, Small]:
    with served(shop) as small, service(SHOP, small) as reached:
        explorer = Explorer(SHOP, SHOP.operations, reached.send, seed)
        memory.teach(explorer, known, SHOP)
        faults = memory.remembered_faults(known, SHOP)
        campaign = Campaign(SHOP, SHOP.operations, reached, explorer, Budget(requests), faults)
        for _ in campaign.turns():
            pass
        campaign.conclude()
        return campaign, explorer, small


@pytest.fixture(scope="module")
def first() -> memory.Knowledge:
    """What a first run leaves, as text and back."""
    campaign, explorer, _ = ran(Shop(1), memory.Knowledge())
    assert all(told.reached_at for told in campaign.operations.values())
    assert any(fault.suspicion.kind is Kind.SERVER_ERROR for fault in campaign.faults)
    return memory.read(memory.written(memory.learned(explorer, memory.Knowledge(), SHOP, campaign.faults)))


def reached_by(campaign: Campaign) -> int:
    return max(told.reached_at or 10**6 for told in campaign.operations.values())


def retraced(known: memory.Knowledge, shop: Shop, operations: tuple[str, ...] = ()) -> tuple[list[Heard], Explorer]:
    wanted = [operation(SHOP, name) for name in operations] or SHOP.operations
    with served(shop) as small, service(SHOP, small) as reached:
        explorer = Explorer(SHOP, tuple(wanted), reached.send, 1)
        memory.teach(explorer, known, SHOP)
        list(explorer.retrace())
        return small.heard, explorer


def test_every_operation_works_again_within_a_few_requests(first: memory.Knowledge) -> None:
    campaign, _, _ = ran(Shop(2), first, seed=9)
    assert reached_by(campaign) <= 2 * len(SHOP.operations)


def test_a_thing_that_is_gone_is_made_again(first: memory.Knowledge) -> None:
    """Sweeping comes first here, so whatever was made before it cannot be used any more."""
    swept = Shop(3)
    heard, explorer = retraced(first, swept)
    assert "POST /sweep" in {str(one) for one in heard}
    assert set(explorer.drafting.worked) == {one.id for one in SHOP.operations}


def test_known_failures_are_met_on_the_way_and_told_as_confirmed_without_being_made_sure_of_again(
    first: memory.Knowledge,
) -> None:
    known = [one for one in memory.remembered_faults(first, SHOP) if one.confirmed]
    campaign, _, small = ran(Shop(4), first, requests=60)
    again = {fault.suspicion.cause: fault.confirmed for fault in campaign.faults}
    assert {one.suspicion.cause for one in known} <= {cause for cause, sure in again.items() if sure}
    assert len(small.heard) <= 60


def test_what_was_repaired_is_fixed_and_its_way_let_go_in_time(first: memory.Knowledge) -> None:
    campaign, explorer, _ = ran(Shop(5, broken=False), first)
    kinds = [fault.suspicion.kind for fault in campaign.fixed]
    assert Kind.SERVER_ERROR in kinds
    second = memory.learned(explorer, first, SHOP, campaign.faults)
    _, explorer = retraced(second, Shop(6, broken=False))
    assert all(sign == WORKS for _, sign in explorer.trail.ways)


def test_what_is_out_of_scope_is_not_sent_even_where_others_rest_on_it(first: memory.Knowledge) -> None:
    heard, _ = retraced(first, Shop(7), ("GET /shelves", "GET /shelves/{shelf_id}"))
    assert {one.method for one in heard} == {"GET"}


def test_the_way_stays_good_over_several_runs(first: memory.Knowledge) -> None:
    known = first
    for number in range(3):
        campaign, explorer, _ = ran(Shop(10 + number), known, requests=120, seed=number)
        assert reached_by(campaign) <= 2 * len(SHOP.operations)
        known = memory.read(memory.written(memory.learned(explorer, known, SHOP, campaign.faults)))


def test_hiding_a_word_of_it_leaves_a_trail_that_can_be_walked(first: memory.Knowledge) -> None:
    for word in ("path", "body", "id", "sh", "0", "POST", "shelf_id", "observed"):
        hidden = memory.read(memory.written(first, lambda text, word=word: text.replace(word, "***")))  # type: ignore[misc]
        retraced(hidden, Shop(8))


def test_a_first_run_has_nothing_to_retrace() -> None:
    with served(Shop(9)) as small, exploring(SHOP, small) as explorer:
        assert list(islice(explorer.retrace(), 1)) == []


# What the contract allows works: where valid requests fail in the same way, the ways are not told apart.
LIMITED = {"type": "integer", "minimum": -(2**31), "maximum": 2**31}
MIXED = record(("text", "number"), text={**TEXT, "pattern": "^[ -~]*$"}, number=LIMITED)
DEPOT = contract({f"/{name}": {"post": does("201", "422", body=MIXED)} for name in ("parcels", "letters")})


def depot(heard: Heard) -> Answer:
    """Two faults behind each operation, and one sentence for both."""
    body = heard.body
    if not isinstance(body, dict) or not isinstance(body.get("text"), str) or not isinstance(body.get("number"), int):
        return 422, {"detail": "no"}
    broken = not body["text"].isascii() or abs(body["number"]) > 2**31
    return (500, {"error": "Internal Server Error"}) if broken else (201, {})


def test_where_all_failures_say_the_same_each_way_to_fail_is_gone_again() -> None:
    with served(depot) as small, exploring(DEPOT, small) as explorer:
        list(islice(explorer.turns(), 400))
        known = memory.read(memory.written(memory.learned(explorer, memory.Knowledge(), DEPOT, ())))
    ways = [without_way(sign) for _, sign in explorer.trail.ways if sign != WORKS]
    assert len(ways) > len(set(ways)) == 2
    with served(depot) as small, service(DEPOT, small) as reached:
        again = Explorer(DEPOT, DEPOT.operations, reached.send, 1)
        memory.teach(again, known, DEPOT)
        failed = [seen.exchange.draft for seen in again.retrace() if seen.exchange.response.status == 500]
    for name in ("POST /parcels", "POST /letters"):
        bodies = [one.body for one in failed if one.operation.id == name and isinstance(one.body, dict)]
        assert any(not body["text"].isascii() for body in bodies)
        assert any(abs(body["number"]) > 2**31 for body in bodies)


def test_what_only_the_trail_knows_is_made_again_after_it_is_gone() -> None:
    """Nothing in the name of a field says where its value comes from; and between making and using, all is swept."""
    made = contract({
        "/shelves": {"post": does("201")},
        "/sweep": {"post": does("200")},
        "/moves": {"post": does("200", "422", body=record(("a",), a=TEXT))},
    })  # fmt: skip
    shelf = told(operation(made, "POST /shelves"), 201, {"id": "sh123456789"}, number=1)
    sweep = told(operation(made, "POST /sweep"), 200, {}, number=2)
    move = told(operation(made, "POST /moves"), 200, {}, number=3, body={"a": "sh123456789"}, media="application/json")
    shelves: set[str] = set()

    def moving(heard: Heard) -> Answer:
        if heard.path == "/shelves":
            shelves.add(f"sh{len(heard.raw) + len(small.heard) + 10**8}")
            return 201, {"id": max(shelves)}
        if heard.path == "/sweep":
            shelves.clear()
            return 200, {}
        return (200, {}) if isinstance(heard.body, dict) and heard.body.get("a") in shelves else (422, {})

    with served(moving) as small, exploring(made, small) as explorer:
        for exchange in (shelf, sweep, move):
            explorer.trail.keep(WORKS, (shelf,) if exchange is move else (), exchange, {})
        answers = [(seen.exchange.operation.path, seen.exchange.response.status) for seen in explorer.retrace()]
    assert answers == [("/shelves", 201), ("/sweep", 200), ("/moves", 422), ("/shelves", 201), ("/moves", 200)]


def test_what_is_refused_now_is_made_anew_from_what_is_believed() -> None:
    made = contract({"/paints": {"post": does("201", "422", body=record(("a",), a={"enum": ["green"]}))}})
    red = told(operation(made, "POST /paints"), 201, {}, body={"a": "red"}, media="application/json")

    def picky(heard: Heard) -> Answer:
        return (201, {}) if isinstance(heard.body, dict) and heard.body.get("a") == "green" else (422, {})

    with served(picky) as small, exploring(made, small) as explorer:
        explorer.trail.keep(WORKS, (), red, {})
        assert [seen.exchange.response.status for seen in explorer.retrace()] == [422, 201]
    assert explorer.trail.ways["POST /paints", WORKS].missed == 0


def test_where_even_what_it_was_made_of_is_gone_everything_is_made_from_the_ground() -> None:
    made = contract({
        "/shelves": {"post": does("201")},
        "/boxes": {"post": does("201", "422", body=record(("a",), a=TEXT))},
        "/sweep": {"post": does("200")},
        "/labels": {"post": does("200", "422", body=record(("b",), b=TEXT))},
    })  # fmt: skip
    shelf = told(operation(made, "POST /shelves"), 201, {"id": "sh123456789"}, number=1)
    box = told(operation(made, "POST /boxes"), 201, {"id": "bx123456789"}, number=2, body={"a": "sh123456789"},
               media="application/json")  # fmt: skip
    sweep = told(operation(made, "POST /sweep"), 200, {}, number=3)
    label = told(
        operation(made, "POST /labels"), 200, {}, number=4, body={"b": "bx123456789"}, media="application/json"
    )
    there: list[str] = []

    def keeping(heard: Heard) -> Answer:
        if heard.path == "/sweep":
            there.clear()
        elif heard.path != "/shelves" and not set(there) & set((heard.body or {}).values()):
            return 422, {}
        there.append(f"{heard.path[1:3]}{len(small.heard) + 10**8}")
        return 201, {"id": there[-1]}

    with served(keeping) as small, exploring(made, small) as explorer:
        for exchange in (shelf, box, sweep, label):
            story = {box.number: (shelf,), label.number: (shelf, box)}.get(exchange.number, ())
            explorer.trail.keep(WORKS, story, exchange, {})
        assert [seen.exchange.ok for seen in explorer.retrace()][-3:] == [True, True, True]
    assert [str(one) for one in small.heard[-3:]] == ["POST /shelves", "POST /boxes", "POST /labels"]


def test_a_thing_is_looked_for_where_it_was_made_and_not_under_a_newer_parent() -> None:
    """A shelf that was closed cannot be locked, so another is made; the box still stands on the first."""
    under = (in_path("shelf_id", "string"),)
    made = contract({
        "/shelves": {"post": does("201")},
        "/shelves/{shelf_id}/boxes": {"post": does("201", "404", parameters=under)},
        "/shelves/{shelf_id}/close": {"post": does("200", "404", parameters=under)},
        "/shelves/{shelf_id}/lock": {"post": does("200", "404", "409", parameters=under)},
        "/shelves/{shelf_id}/boxes/{box_id}": {
            "get": does("200", "404", parameters=(*under, in_path("box_id", "string")))
        },
    })  # fmt: skip
    shelf = told(operation(made, "POST /shelves"), 201, {"id": "sh123456789"}, number=1)
    path = {"shelf_id": "sh123456789"}
    box = told(operation(made, "POST /shelves/{shelf_id}/boxes"), 201, {"id": "bx123456789"}, number=2, path=path)
    close = told(operation(made, "POST /shelves/{shelf_id}/close"), 200, {}, number=3, path=path)
    lock = told(operation(made, "POST /shelves/{shelf_id}/lock"), 200, {}, number=4, path=path)
    read = told(operation(made, "GET /shelves/{shelf_id}/boxes/{box_id}"), 200, {}, number=5,
                path={**path, "box_id": "bx123456789"})  # fmt: skip
    closed: set[str] = set()
    boxes: set[str] = set()

    def shop(heard: Heard) -> Answer:
        name = f"{len(small.heard) + 10**8}"
        if heard.path == "/shelves":
            return 201, {"id": f"sh{name}"}
        if heard.path.endswith("/boxes"):
            boxes.add(f"{heard.path}/bx{name}")
            return 201, {"id": f"bx{name}"}
        if heard.path.endswith("/close"):
            closed.add(heard.path.removesuffix("/close"))
        if heard.path.removesuffix("/lock") in closed:
            return 409, {}
        return (200, {}) if heard.method == "POST" or heard.path in boxes else (404, {})

    with served(shop) as small, exploring(made, small) as explorer:
        for exchange in (shelf, box, close, lock, read):
            story = () if exchange is shelf else (shelf, box) if exchange is read else (shelf,)
            explorer.trail.keep(WORKS, story, exchange, {})
        answers = [seen.exchange.response.status for seen in explorer.retrace()]
    assert answers == [201, 201, 200, 409, 201, 200, 200]


def test_what_was_deleted_is_made_again_for_the_failures_that_follow() -> None:
    """All operations work before the first failure is asked for; the one with a shelf has to have a new one."""
    shelf = (in_path("shelf_id", "string"),)
    made = contract({
        "/shelves": {"post": does("201")},
        "/shelves/{shelf_id}": {"get": does("200", "404", parameters=shelf), "delete": does("204", parameters=shelf)},
    })  # fmt: skip
    path = {"shelf_id": "sh123456789"}
    post = told(operation(made, "POST /shelves"), 201, {"id": "sh123456789"}, number=1)
    read = told(operation(made, "GET /shelves/{shelf_id}"), 500, {}, number=2, path=path, query={"x": "1"})
    ended = told(operation(made, "DELETE /shelves/{shelf_id}"), 204, number=3, path=path)
    there: set[str] = set()

    def shop(heard: Heard) -> Answer:
        if heard.method == "POST":
            there.add(f"/shelves/sh{len(small.heard) + 10**8}")
            return 201, {"id": max(there).rpartition("/")[2]}
        if heard.path not in there:
            return 404, {}
        if heard.method == "GET":
            return 500, {"error": "boom"}
        there.remove(heard.path)
        return 204, None

    cause = "server-error | GET /shelves/{shelf_id} | 500 boom"
    with served(shop) as small, exploring(made, small) as explorer:
        for sign, story, exchange in ((WORKS, (), post), (cause, (post,), read), (WORKS, (post,), ended)):
            explorer.trail.keep(sign, story, exchange, {})
        answers = [seen.exchange.response.status for seen in explorer.retrace()]
    assert answers == [201, 204, 201, 500]


def test_what_is_known_to_fail_is_no_news_and_no_sample_of_its_kind(first: memory.Knowledge) -> None:
    with served(Shop(11)) as small, service(SHOP, small) as reached:
        explorer = Explorer(SHOP, SHOP.operations, reached.send, 1)
        memory.teach(explorer, first, SHOP)
        before = explorer.sequencing.kinds.counts.copy()
        failing = [seen for seen in explorer.retrace() if seen.exchange.response.status == 500]
    assert failing
    assert not any(seen.news.fault or seen.news.status for seen in failing)
    assert (explorer.sequencing.kinds.counts == before).all()


def test_a_failure_that_does_not_show_with_things_that_were_used_is_tried_with_new_ones() -> None:
    """Reading fails on a shelf without boxes only."""
    under = (in_path("shelf_id", "string"),)
    made = contract({
        "/shelves": {"post": does("201")},
        "/shelves/{shelf_id}": {"get": does("200", parameters=under)},
        "/shelves/{shelf_id}/boxes": {"post": does("201", parameters=under)},
    })  # fmt: skip
    path = {"shelf_id": "sh123456789"}
    shelf = told(operation(made, "POST /shelves"), 201, {"id": "sh123456789"}, number=1)
    read = told(operation(made, "GET /shelves/{shelf_id}"), 500, {}, number=2, path=path)
    box = told(operation(made, "POST /shelves/{shelf_id}/boxes"), 201, {}, number=3, path=path)
    filled: set[str] = set()

    def shop(heard: Heard) -> Answer:
        if heard.path == "/shelves":
            return 201, {"id": f"sh{len(small.heard) + 10**8}"}
        if heard.method == "POST":
            filled.add(heard.path.removesuffix("/boxes"))
            return 201, {}
        return (200, {}) if heard.path in filled else (500, {"error": "boom"})

    cause = "server-error | GET /shelves/{shelf_id} | 500 boom"
    with served(shop) as small, exploring(made, small) as explorer:
        for sign, story, exchange in ((WORKS, (), shelf), (cause, (shelf,), read), (WORKS, (shelf,), box)):
            explorer.trail.keep(sign, story, exchange, {})
        seen = list(explorer.retrace())
    assert [one.exchange.response.status for one in seen] == [201, 201, 200, 201, 500]
    assert [one.cause for one in seen[-1].suspicions] == [cause]
    assert explorer.trail.ways["GET /shelves/{shelf_id}", cause].missed == 0
