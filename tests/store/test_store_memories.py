"""Both databases keep the contract of memory."""

import pytest

from whet.checks.memories import CHECKS, Check
from whet.store import open_store


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_memories_keep_their_contract(check: Check, store_url: str) -> None:
    check(lambda: open_store(store_url, audit_key=b"key"))
