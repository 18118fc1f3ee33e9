"""Both databases keep the contract of the learning log."""

import pytest

from whet.checks.learning import CHECKS, Check
from whet.store import open_store


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_learning_keeps_its_contract(check: Check, store_url: str) -> None:
    check(lambda: open_store(store_url, audit_key=b"key"))
