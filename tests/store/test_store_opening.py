"""Opening a store: fresh, current, newer, foreign, broken, and by two at once."""

import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, make_url, text
from tests.postgres import PostgresServer

import whet.store
from whet.checks.sheets import sheet
from whet.checks.store_samples import OWN, experience, lesson, verdict
from whet.core.errors import MissingTool, WhetError
from whet.core.ports import Store
from whet.store import SqlStore, open_store
from whet.store.engine import Database, postgres_engine, sqlite_engine
from whet.store.experiences import _row
from whet.store.migrating import prepare_file
from whet.store.schema import HEAD, VERSION_TABLE, experiences, metadata

_OPEN = "import sys; from whet.store import open_store; open_store(sys.argv[1]).audit.append('opened', 'x', {})"


@pytest.fixture(params=["sqlite", "postgresql"])
def fresh_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that was never opened."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'deep' / 'whet.db'}"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.url(server.create())


def _database(url: str) -> Database:
    if url.startswith("postgresql"):
        return Database(postgres_engine(make_url(url)))
    path = Path(url.removeprefix("sqlite:///"))
    prepare_file(path).close()
    return Database(sqlite_engine(path))


def _driver_url(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://")


def test_processes_that_open_a_fresh_store_at_once_all_succeed(fresh_url: str) -> None:
    started = [subprocess.Popen([sys.executable, "-c", _OPEN, fresh_url], stderr=subprocess.PIPE) for _ in range(4)]
    errors = [process.communicate(timeout=60)[1].decode() for process in started]
    assert [process.returncode for process in started] == [0] * 4, errors
    with open_store(fresh_url) as store:
        assert store.audit.verify().entries == 4


def test_migrations_make_exactly_the_schema(fresh_url: str) -> None:
    open_store(fresh_url).close()
    engine = create_engine(_driver_url(fresh_url))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        differences = compare_metadata(context, metadata)
    engine.dispose()
    assert differences == []


def test_the_head_constant_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(whet.store.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


def _learned_by_the_first_version(connection: Connection, store: SqlStore) -> None:
    """Two experiences, one with its lesson; nobody numbered their arrival then."""
    for each in (experience("kept"), experience("kept too")):
        connection.execute(experiences.insert(), _row(each))
        store.audit.append_in(connection, "learned", each.key, {})
    store.tables.learn_in(connection, lesson(5.0), 1.0)


def test_an_older_store_is_brought_up_to_date_without_loss(fresh_url: str) -> None:
    """As the first version left it: a learned experience, its audit entry, verdicts, and no table of sheets."""
    database = _database(fresh_url)
    config = Config()
    config.set_main_option("script_location", str(Path(whet.store.__file__).parent / "migrations"))
    with database.engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    old = SqlStore(database, None, None)
    database.write(lambda connection: _learned_by_the_first_version(connection, old))
    old.history.record("run", "code", [verdict("a", "failed")])
    before = (old.experiences.recent(), old.tables.read([OWN]), old.history.tests("code"), old.audit.entries())
    with pytest.raises(WhetError, match="sheets"):
        old.sheets.count()
    old.close()
    with open_store(fresh_url) as store:
        after = (
            store.experiences.recent(),
            store.tables.read([OWN]),
            store.history.tests("code"),
            store.audit.entries(),
        )
        assert after == before
        assert store.audit.verify().problem is None
        assert store.sheets.add([sheet()]).sheets == 1
        store.experiences.learn(experience("new"), None)
        assert [seen.experience.key for seen in store.learning.unread(9)] == ["kept", "kept too", "new"]


def test_a_newer_schema_is_refused_by_name(fresh_url: str) -> None:
    open_store(fresh_url).close()
    engine = create_engine(_driver_url(fresh_url))
    with engine.begin() as connection:
        connection.execute(text("UPDATE whet_schema_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(WhetError, match=r"schema 9999.*knows up to 0007.*Upgrade"):
        open_store(fresh_url)


@pytest.mark.parametrize("content", [b"x", b"not a database " * 1000, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "whet.db"
    path.write_bytes(content)
    with pytest.raises(WhetError, match=r"damaged or is not a SQLite database.*Move the file away"):
        open_store(f"sqlite:///{path}")
    assert path.read_bytes() == content


def test_damage_inside_is_told_when_it_is_met(tmp_path: Path) -> None:
    path = tmp_path / "whet.db"
    with open_store(f"sqlite:///{path}") as store:
        for number in range(50):
            store.experiences.learn(experience(f"k{number}"), None)
    content = bytearray(path.read_bytes())
    content[len(content) // 4 :] = b"\xaa" * (len(content) - len(content) // 4)
    path.write_bytes(content)
    with pytest.raises(WhetError, match="damaged"), open_store(f"sqlite:///{path}") as store:
        store.experiences.recent()


def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE accounts (id INTEGER)"))
    engine.dispose()
    before = path.read_bytes()
    with pytest.raises(WhetError, match=r"belongs to something else.*accounts"):
        open_store(f"sqlite:///{path}")
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "whet.db").touch()
    with open_store(f"sqlite:///{tmp_path / 'whet.db'}") as store:
        assert store.experiences.count() == 0


@pytest.mark.parametrize("url", ["nonsense", "mysql://host/db", "sqlite://", "sqlite:///:memory:", ""])
def test_other_addresses_are_refused_with_the_allowed_ones(url: str) -> None:
    with pytest.raises(WhetError, match=r"Use sqlite:////absolute/path/whet\.db or postgresql://"):
        open_store(url)


def test_passwords_are_not_shown() -> None:
    with pytest.raises(WhetError) as refused:
        open_store("postgresql://kim:hunter2@127.0.0.1:1/nowhere")
    assert "hunter2" not in str(refused.value)
    assert "127.0.0.1" in str(refused.value)


def test_a_path_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WhetError, match="cannot be opened"):
        open_store(f"sqlite:///{tmp_path / 'file' / 'whet.db'}")


def test_without_psycopg_the_remedy_is_named() -> None:
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from whet.store import open_store\n"
        "try: open_store('postgresql://localhost/x')\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown.startswith(MissingTool.__name__)
    assert "pip install 'whet[postgres]'" in shown


def test_a_current_store_opens_fast_and_without_alembic(store_url: str) -> None:
    """The first opening imports drivers, the second one shows what opening costs, in processor time."""
    script = (
        "import sys, time; from whet.store import open_store\n"
        "open_store(sys.argv[1]).close(); started = time.process_time()\n"
        "store = open_store(sys.argv[1]); store.sheets.snapshot('lane'); store.sheets.latest(); store.close()\n"
        "spent = time.process_time() - started\n"
        "print(spent, 'alembic' in sys.modules, 'numpy' in sys.modules)"
    )
    store: Store = open_store(store_url)
    store.close()
    started = [sys.executable, "-c", script, store_url]
    spent, *imported = subprocess.run(started, capture_output=True, text=True, check=True).stdout.split()
    assert imported == ["False", "False"]
    assert float(spent) < 0.06


def test_sqlite_is_set_up_to_survive_power_loss(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'whet.db'}") as store, store._database.engine.connect() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")
        }
        assert found == {"journal_mode": "wal", "synchronous": 2}  # 2 is FULL
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_two_openings_in_one_process_do_not_disturb_each_other(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'whet.db'}"
    with open_store(url) as first:
        for number in range(20):
            with open_store(url) as second:
                second.experiences.learn(experience(f"second {number}"), None)
            first.experiences.learn(experience(f"first {number}"), None)
        assert first.experiences.count() == 40
        assert first.audit.verify().problem is None
