"""Nobody rewrites the audit trail unseen."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine

from whet.checks.store_samples import experience, lesson
from whet.store import SqlStore, open_store

KEY = b"the key the attacker does not have"


def _tamper(url: str, change: Callable[[Connection], None]) -> None:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.begin() as connection:
            change(connection)
    finally:
        engine.dispose()


def _statements(*statements: str) -> Callable[[Connection], None]:
    def change(connection: Connection) -> None:
        for statement in statements:
            connection.exec_driver_sql(statement)

    return change


def _filled(url: str, key: bytes | None = KEY) -> SqlStore:
    store = open_store(url, audit_key=key)
    for number in range(5):
        store.audit.append("noted", f"subject {number}", {"number": number})
    return store


_COPY = "INSERT INTO audit_log SELECT {seq}, kind, subject, payload, at, digest FROM audit_log WHERE seq = {of}"
TAMPERINGS = {
    "edited payload": ("UPDATE audit_log SET payload = '{\"number\":9}' WHERE seq = 3",),
    "reformatted payload": ("UPDATE audit_log SET payload = '{\"number\": 2}' WHERE seq = 3",),
    "edited kind": ("UPDATE audit_log SET kind = 'other' WHERE seq = 1",),
    "edited subject": ("UPDATE audit_log SET subject = 'other' WHERE seq = 5",),
    "edited time": ("UPDATE audit_log SET at = '2020-01-01 00:00:00.000000' WHERE seq = 2",),
    "edited digest": ("UPDATE audit_log SET digest = 'beef' WHERE seq = 4",),
    "deleted first": ("DELETE FROM audit_log WHERE seq = 1",),
    "deleted middle": ("DELETE FROM audit_log WHERE seq = 3",),
    "deleted and closed up": (
        "DELETE FROM audit_log WHERE seq = 3",
        "UPDATE audit_log SET seq = 3 WHERE seq = 4",
        "UPDATE audit_log SET seq = 4 WHERE seq = 5",
        "UPDATE audit_head SET seq = 4",
    ),
    "inserted": (_COPY.format(seq=0, of=2),),
    "appended": (_COPY.format(seq=6, of=5), "UPDATE audit_head SET seq = 6"),
    "swapped": (
        "UPDATE audit_log SET seq = 99 WHERE seq = 2",
        "UPDATE audit_log SET seq = 2 WHERE seq = 3",
        "UPDATE audit_log SET seq = 3 WHERE seq = 99",
    ),
    "cut off": ("DELETE FROM audit_log WHERE seq > 3",),
    "cut off with the head put back": (
        "DELETE FROM audit_log WHERE seq > 3",
        "UPDATE audit_head SET seq = 3, digest = (SELECT digest FROM audit_log WHERE seq = 3)",
    ),
    "head deleted": ("DELETE FROM audit_head",),
    "head edited": ("UPDATE audit_head SET seq = 4",),
    "seal edited": ("UPDATE audit_head SET mac = 'beef'",),
    "emptied, head kept": ("DELETE FROM audit_log",),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_tampering_shows_and_stays_visible_when_the_trail_goes_on(name: str, store_url: str) -> None:
    with _filled(store_url) as store:
        assert store.audit.verify().problem is None
        _tamper(store_url, _statements(*TAMPERINGS[name]))
        assert store.audit.verify().problem is not None
        store.audit.append("noted", "afterwards", {})
        store.audit.append("noted", "and again", {})
        assert store.audit.verify().problem is not None


def test_unreadable_entries_are_a_problem_not_a_crash(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'whet.db'}"
    with _filled(url) as store:
        _tamper(url, _statements("UPDATE audit_log SET at = 'yesterday' WHERE seq = 3"))
        problem = store.audit.verify().problem
        assert problem is not None
        assert "after 2" in problem


def test_rewriting_everything_without_the_key_shows(store_url: str) -> None:
    """The strongest attacker has the whole database and this source code, but not the key."""
    with _filled(store_url) as store:
        _tamper(store_url, _statements("DELETE FROM audit_log", "DELETE FROM audit_head"))
        with open_store(store_url, audit_key=b"a guess") as forger:
            for number in range(5):
                forger.audit.append("noted", f"subject {number}", {"number": 99})
            assert forger.audit.verify().problem is None
        assert store.audit.verify().problem is not None


def test_without_a_key_the_chain_holds_but_says_so(store_url: str) -> None:
    with _filled(store_url, key=None) as store:
        report = store.audit.verify()
        assert (report.problem, report.keyed, report.entries) == (None, False, 5)
        _tamper(store_url, _statements(*TAMPERINGS["edited payload"]))
        assert store.audit.verify().problem is not None


def test_a_rolled_back_file_shows_by_the_expected_head(tmp_path: Path) -> None:
    path, backup = tmp_path / "whet.db", tmp_path / "backup.db"
    _filled(f"sqlite:///{path}").close()
    shutil.copy(path, backup)
    with open_store(f"sqlite:///{path}", audit_key=KEY) as store:
        head = store.audit.append("noted", "the newest", {})
    shutil.copy(backup, path)
    with open_store(f"sqlite:///{path}", audit_key=KEY) as store:
        assert store.audit.verify().problem is None
        problem = store.audit.verify(expected_head=head).problem
        assert problem is not None
        assert head[:12] in problem


def test_learning_is_audited_in_the_same_transaction(store_url: str) -> None:
    with open_store(store_url, audit_key=KEY) as store:
        store.experiences.learn(experience("k1", credited=0.1), lesson(3.0))
        (entry,) = store.audit.entries()
        assert (entry.kind, entry.subject) == ("learned", "k1")
        assert (entry.payload["credited"], entry.payload["target"]) == (0.1, 3.0)


def test_two_lone_surrogates_and_their_character_have_different_digests(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'whet.db'}", audit_key=KEY) as store:
        store.audit.append("noted", "x", {"text": "\ud83e\uddea"})
        store.audit.append("noted", "x", {"text": "\U0001f9ea"})
        newer, older = store.audit.entries()
        assert newer.payload != older.payload
