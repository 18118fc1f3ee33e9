"""Both databases keep the public contract."""

import pytest

from whet.checks.store import CHECKS, Check
from whet.core.ports import Store
from whet.store import open_store


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("key", [b"a key", None], ids=["keyed", "plain"])
def test_store_keeps_its_contract(check: Check, key: bytes | None, store_url: str) -> None:
    def opened() -> Store:
        return open_store(store_url, audit_key=key)

    check(opened)
