"""Whether an operation can work now, and what had better come before it."""

import random

from tests.skills.api.learning.test_api_choices import FORUM, Forum, walked
from tests.skills.api.small_service import contract, does, exploring, in_path, operation, served, told

from whet.skills.api.learning.dependencies import Dependencies
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.readiness import Readiness


class TestReadiness:
    def test_an_operation_is_ready_when_what_its_path_names_lives(self) -> None:
        rng = random.Random(0)
        entities = Entities(rng)
        readiness = Readiness(FORUM.operations, entities, Dependencies(rng, entities))
        make, post = operation(FORUM, "POST /boards"), operation(FORUM, "POST /boards/{board_id}/posts")
        read = operation(FORUM, "GET /boards/{board_id}/posts/{post_id}")
        assert [readiness.ready(one) for one in (make, post, read)] == [True, False, False]
        entities.take_in(told(make, 201, {"id": 1}))
        assert [readiness.ready(one) for one in (make, post, read)] == [True, True, False]
        entities.take_in(told(post, 201, {"id": 5}, path={"board_id": 1}))
        assert readiness.ready(read)

    def test_a_put_needs_only_what_is_above_it(self) -> None:
        rng = random.Random(0)
        entities = Entities(rng)
        made = contract({"/pages/{name}": {"put": does("200", parameters=(in_path("name", "string"),))}})
        assert Readiness(made.operations, entities, Dependencies(rng, entities)).ready(made.operations[0])

    def test_what_needs_a_parent_waits_for_one(self) -> None:
        """The first request is one that needs nothing; the leaf is not tried before the branch has worked."""
        for seed in range(5):
            with served(Forum()) as small, exploring(FORUM, small, seed) as explorer:
                seen = walked(explorer, 40)
            first: dict[str, int] = {}
            for at, one in enumerate(seen):
                if one.ok:
                    first.setdefault(one.operation.id, at)
            assert first["POST /boards"] < first["POST /boards/{board_id}/posts"]
            assert first["POST /boards"] < 6

    def test_deleting_waits_while_one_lives_that_others_need(self) -> None:
        with served(Forum()) as small, exploring(FORUM, small) as explorer:
            readiness, sequencing, entities = explorer._readiness, explorer.sequencing, explorer.entities
            make, delete = operation(FORUM, "POST /boards"), operation(FORUM, "DELETE /boards/{board_id}")
            waits = [readiness.waits(delete, sequencing)]  # where nothing lives there is nothing to lose
            for number in (1, 2):
                entities.take_in(told(make, 201, {"id": number}, number=number))
                waits.append(readiness.waits(delete, sequencing))
            entities.end(told(delete, 204, path={"board_id": 2}))
            waits.append(readiness.waits(delete, sequencing))
        assert waits == [False, True, False, True]

    def test_deleting_the_last_one_waits_for_those_who_need_it(self) -> None:
        early = 0
        for seed in range(5):
            with served(Forum()) as small, exploring(FORUM, small, seed) as explorer:
                seen = walked(explorer, 60)
            posted = next(at for at, one in enumerate(seen) if one.ok and one.operation.id.endswith("/posts"))
            early += any(one.ok and one.operation.method == "DELETE" for one in seen[:posted])
        assert early <= 1
