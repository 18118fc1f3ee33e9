"""Both databases keep the contract of candidates."""

import pytest
from sqlalchemy import update

from whet.checks.candidates import CHECKS, Check, brought_to
from whet.core.candidates import SINGULAR, Stage
from whet.core.errors import WhetError
from whet.store import open_store
from whet.store.learning_schema import candidates


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_candidates_keep_their_contract(check: Check, store_url: str) -> None:
    check(lambda: open_store(store_url, audit_key=b"key"))


@pytest.mark.parametrize("stage", sorted(SINGULAR))
def test_the_database_itself_refuses_two_in_one_place(stage: Stage, store_url: str) -> None:
    """Should a step ever go wrong: no statement at all can put a second one there."""
    with open_store(store_url) as store:
        brought_to(store, stage, "first")
        second = brought_to(store, Stage.PROVEN, "second")
        brought_to(store, stage, "of another agent", agent="other")
        forced = update(candidates).where(candidates.c.number == second.number).values(stage=stage.value)
        with pytest.raises(WhetError, match=r"uq_candidates_singular|candidates\.agent, candidates\.stage"):
            store._database.write(lambda connection: connection.execute(forced))
        assert store.candidates.get(second.number) == second
