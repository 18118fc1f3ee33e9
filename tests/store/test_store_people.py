"""Keys in the store, on both databases: made once, changed with a trace, their digests never shown."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from whet.core.errors import RefusedInput
from whet.core.people import Key, NewKey, Role
from whet.core.records import now
from whet.store import open_store


def _new(key_id: str = "a1b2c3d4", digest: str = "0" * 64, **changes: object) -> NewKey:
    told = {"id": key_id, "name": "ada\x00<b>", "role": Role.OPERATOR, "digest": digest} | changes
    return NewKey.model_validate(told)


def test_a_key_lives_as_people_say(store_url: str) -> None:
    with open_store(store_url) as store:
        ends = now() + timedelta(days=1)
        made = store.people.add(_new(expires_at=ends), "ben", now())
        assert store.people.find("a1b2c3d4") == made
        assert (made.turn, made.valid(now()), made.valid(ends)) == (0, True, False)
        rotated = store.people.rotate("a1b2c3d4", "1" * 64, "ben", now())
        assert rotated is not None
        assert (rotated.turn, rotated.digest) == (1, "1" * 64)
        revoked = store.people.revoke("a1b2c3d4", "ben", now())
        assert revoked is not None
        assert not revoked.valid(now())
        assert store.people.revoke("a1b2c3d4", "ben", now() + timedelta(hours=1)) == revoked
        assert store.people.rotate("a1b2c3d4", "2" * 64, "ben", now()) is None
        assert store.people.all() == [revoked]
        trail = store.audit.entries()
        assert [entry.kind for entry in trail] == ["key-revoked", "key-rotated", "key-added"]
        assert {entry.payload["by"] for entry in trail} == {"ben"}
        assert not any(digest * 64 in json.dumps(entry.payload) for entry in trail for digest in "01")


def test_what_is_not_there_is_not_changed(store_url: str) -> None:
    with open_store(store_url) as store:
        assert store.people.find("nobody") is None
        assert store.people.revoke("nobody", "ben", now()) is None
        assert store.people.rotate("nobody", "1" * 64, "ben", now()) is None
        assert (store.people.all(), store.audit.entries()) == ([], [])


def test_an_id_is_given_once_and_a_digest_is_a_digest(store_url: str) -> None:
    with open_store(store_url) as store:
        store.people.add(_new(), "ben", now())
        with pytest.raises(RefusedInput, match="a key 'a1b2c3d4' already"):
            store.people.add(_new(digest="1" * 64), "ben", now())
        with pytest.raises(RefusedInput, match="digest"):
            store.people.rotate("a1b2c3d4", "not a digest", "ben", now())
        assert [key.digest for key in store.people.all()] == ["0" * 64]
        assert len(store.audit.entries()) == 1


def test_of_several_first_keys_at_once_one_is_made(store_url: str) -> None:
    with open_store(store_url) as store, ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda n: store.people.add_first(_new(f"key{n:05}"), "ben", now()), range(8)))
        kept = [key for key in made if key is not None]
        assert len(kept) == 1
        assert store.people.all() == kept
        store.people.revoke(kept[0].id, "ben", now())
        assert store.people.add_first(_new(), "ben", now()) is None  # a service once locked stays locked


def test_a_key_does_not_show_its_digest_by_accident() -> None:
    assert "0" * 64 not in repr(Key(**_new().model_dump(), made_at=now()))


def test_roles_are_ranked() -> None:
    ranked = [Role.METRICS, Role.VIEWER, Role.REVIEWER, Role.OPERATOR, Role.ADMIN]
    may = [[one.may(other) for other in ranked] for one in ranked]
    assert may == [[column <= row for column in range(5)] for row in range(5)]
