"""A hostile or careless suite deletes the store's directory while it is open."""

import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from whet.checks.store_samples import OWN, experience, lesson
from whet.core.errors import WhetError
from whet.store import SqlStore, open_store

KEY = b"key"
_COUNT = (
    "import sys; from whet.store import open_store; store = open_store(sys.argv[1], b'key')\n"
    "print(store.experiences.count(), store.audit.verify().problem)"
)


def _path(tmp_path: Path) -> Path:
    return tmp_path / ".whet" / "whet.db"


@pytest.fixture
def store(tmp_path: Path) -> SqlStore:
    opened = open_store(f"sqlite:///{_path(tmp_path)}", audit_key=KEY)
    _learn(opened, "before", 30)
    return opened


def _learn(store: SqlStore, name: str, number: int) -> None:
    for each in range(number):
        assert store.experiences.learn(experience(f"{name} {each}"), lesson(1.0))


def _seen_by_another_process(path: Path) -> str:
    command = [sys.executable, "-c", _COUNT, f"sqlite:///{path}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_nothing_to_rescue(store: SqlStore, tmp_path: Path) -> None:
    assert store.rescue() is False
    _learn(store, "after", 3)
    assert store.rescue() is False
    assert _seen_by_another_process(_path(tmp_path)) == "33 None"
    store.close()


def test_a_deleted_directory_is_written_back(store: SqlStore, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / ".whet")
    _learn(store, "into the void", 5)
    assert store.rescue() is True
    assert _seen_by_another_process(_path(tmp_path)) == "35 None"
    assert store.rescue() is False
    _learn(store, "after", 5)
    assert store.tables.read([OWN])[OWN].visits == 40
    assert _seen_by_another_process(_path(tmp_path)) == "40 None"
    store.close()
    assert _seen_by_another_process(_path(tmp_path)) == "40 None"


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_a_single_deleted_file_is_written_back(store: SqlStore, tmp_path: Path, suffix: str) -> None:
    Path(f"{_path(tmp_path)}{suffix}").unlink()
    _learn(store, "meanwhile", 5)
    assert store.rescue() is True
    store.close()
    assert _seen_by_another_process(_path(tmp_path)) == "35 None"


def test_what_took_its_place_is_set_aside(store: SqlStore, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / ".whet")
    _path(tmp_path).parent.mkdir()
    _path(tmp_path).write_bytes(b"somebody else's")
    assert store.rescue() is True
    (aside,) = _path(tmp_path).parent.glob("whet.db.replaced-*")
    assert aside.read_bytes() == b"somebody else's"
    assert store.experiences.count() == 30
    store.close()


def test_a_deleted_store_never_comes_back_empty(store: SqlStore, tmp_path: Path) -> None:
    """New connections must not create a new file; threads force the pool to open some."""
    shutil.rmtree(tmp_path / ".whet")
    _path(tmp_path).parent.mkdir()
    counts: list[int] = []

    def look() -> None:
        with suppress(WhetError):
            counts.append(store.experiences.count())

    threads = [threading.Thread(target=look) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(counts) <= {30}
    assert not _path(tmp_path).exists()
    assert store.rescue() is True
    store.close()


def test_rescue_while_others_write_loses_nothing_acknowledged(store: SqlStore, tmp_path: Path) -> None:
    acknowledged: list[str] = []
    stop = threading.Event()

    def work(name: str) -> None:
        number = 0
        while not stop.is_set():
            key = f"{name} {number}"
            with suppress(WhetError):  # refused while there is no file to connect to; then it was not acknowledged
                store.experiences.learn(experience(key), lesson(1.0))
                acknowledged.append(key)
            number += 1

    threads = [threading.Thread(target=work, args=(f"thread {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        shutil.rmtree(tmp_path / ".whet")
        assert store.rescue() is True
    stop.set()
    for thread in threads:
        thread.join()
    stored = {each.key for each in store.experiences.recent(limit=100_000)}
    assert set(acknowledged) <= stored
    assert store.tables.read([OWN])[OWN].visits == len(stored)
    assert store.audit.verify().problem is None
    store.close()


def test_a_directory_that_cannot_be_made_is_told_and_nothing_is_lost(store: SqlStore, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / ".whet")
    (tmp_path / ".whet").write_text("a file in the way")
    with pytest.raises(WhetError, match="could not be written back"):
        store.rescue()
    (tmp_path / ".whet").unlink()
    assert store.rescue() is True
    assert store.experiences.count() == 30
    store.close()


def test_postgres_needs_no_rescue(postgres_url: str) -> None:
    with open_store(postgres_url) as opened:
        assert opened.rescue() is False
