"""Projects are told apart in a store that several share, and found again wherever they are checked out."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.command_line import EXECUTOR_ONLY, environment, whet
from tests.memory.lived import failing, live

from whet.bootstrap.remembering import fleet_memory
from whet.bootstrap.site import Site, open_site
from whet.core.errors import WhetError
from whet.core.memories import Wanted
from whet.core.ports import RunRecord
from whet.core.records import now
from whet.store import SqlStore

Checkout = Callable[..., Site]


@pytest.fixture
def checkout(tmp_path: Path, store_url: str) -> Checkout:
    """A checkout of a repository, in a folder of this name somewhere, with the one store of all."""

    def made(folder: str, origin: str | None = None, project: str | None = None) -> Site:
        root = tmp_path / folder
        root.mkdir(parents=True)
        (root / "pyproject.toml").write_text("" if project is None else f'[tool.whet]\nproject = "{project}"\n')
        if origin is not None:
            git(root, "init", "-q")
            git(root, "remote", "add", "origin", origin)
        return open_site(root, database_url=store_url)

    return made


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def lived(site: Site, said: str) -> list[str]:
    """A failing test in a visit of this site, remembered; and what is known of failures there then."""
    with site.store() as store:
        _live(site, store, said)
        memory = fleet_memory(site, store)
        memory.catch_up()
        wanted = Wanted(project=memory.project, topics=("failure",))
        return sorted(each.text.splitlines()[0] for each in memory.memories.newest(wanted, 10))


def _live(site: Site, store: SqlStore, said: str) -> None:
    run = RunRecord(id=said, project=site.name, code_version="c", budget_seconds=1.0, seed=1, started_at=now())
    store.runs.start(run)
    live(store, said, failing(evidence=f"E       {said}"), run_id=said)


def test_another_project_of_the_same_name_is_told_and_not_mixed(checkout: Checkout) -> None:
    first = checkout("a/app", "git@example.com:red/app.git")
    assert len(lived(first, "KeyError: 1")) == 1
    second = checkout("b/app", "https://example.com/blue/app.git")
    with pytest.raises(WhetError) as refused, second.store():
        pass
    assert "'app' already: example.com/red/app. This one is example.com/blue/app" in str(refused.value)
    assert '[tool.whet] project = "…"' in str(refused.value)
    named = checkout("c/app", "https://example.com/blue/app.git", project="blue-app")
    assert lived(named, "ValueError: 2") == ["tests/test_cart.py::test_sum failed: ValueError: 2"]
    assert [text.rpartition("failed: ")[2] for text in lived(first, "TypeError: 3")] == ["KeyError: 1", "TypeError: 3"]


def test_a_checkout_in_another_folder_has_its_memories(checkout: Checkout) -> None:
    lived(checkout("app", "git@example.com:red/app.git"), "KeyError: 1")
    elsewhere = checkout("builds/17", "https://ci:token@example.com:443/red/app")
    assert len(lived(elsewhere, "ValueError: 2")) == 2
    assert elsewhere.name == "app"


def test_a_folder_of_a_repository_is_a_project_of_its_own(checkout: Checkout, store_url: str) -> None:
    whole = checkout("shops", "git@example.com:red/shops.git").project.root
    for folder, said in (("one/app", "KeyError: 1"), ("two", "ValueError: 2")):
        (whole / folder).mkdir(parents=True)
        (whole / folder / "pyproject.toml").touch()
        assert len(lived(open_site(whole / folder, database_url=store_url), said)) == 1
    (whole / "two" / "app").mkdir()
    (whole / "two" / "app" / "pyproject.toml").touch()
    with pytest.raises(WhetError, match=r"example.com/red/shops:one/app"):
        lived(open_site(whole / "two" / "app", database_url=store_url), "x")


def test_who_says_a_name_shares_it_and_nobody_takes_it_unasked(checkout: Checkout) -> None:
    lived(checkout("here", "git@example.com:me/app.git", project="app"), "KeyError: 1")
    fork = checkout("there", "git@example.com:you/app.git", project="app")
    assert len(lived(fork, "ValueError: 2")) == 2
    with pytest.raises(WhetError, match=r"already: example.com/me/app and example.com/you/app"):
        lived(checkout("c/app", "git@example.com:other/app.git"), "x")
    with pytest.raises(WhetError, match="already"):
        lived(checkout("d/app"), "x")


def test_without_a_repository_a_project_is_its_folder(checkout: Checkout) -> None:
    lived(checkout("a/app"), "KeyError: 1")
    with pytest.raises(WhetError, match=r"a/app\. This one is .*b/app"):
        lived(checkout("b/app"), "x")


def test_what_lies_where_another_lay_is_told_apart_by_its_package(checkout: Checkout) -> None:
    """As in containers, where every project is in /app."""
    site = checkout("app")
    for package in ("shop", "shop", "bank"):
        (site.project.root / "pyproject.toml").write_text(f'[project]\nname = "{package}"\n')
        if package == "shop":
            assert len(lived(site, f"KeyError: {now()}")) == 1
    with pytest.raises(WhetError, match=r"app \(shop\)\. This one is .*app \(bank\)"):
        lived(site, "x")


def test_what_was_kept_under_the_folders_name_stays(checkout: Checkout) -> None:
    """Stores from before names were claimed."""
    site = checkout("app", "git@example.com:red/app.git")
    with site.store() as store:
        _live(site, store, "KeyError: 1")
        fleet_memory(site, store).catch_up()
        for document in store.knowledge.services():
            store.knowledge.forget(document)
    assert len(lived(site, "ValueError: 2")) == 2


def test_a_project_of_its_own_store_keeps_its_memories_when_it_is_renamed(tmp_path: Path) -> None:
    before = tmp_path / "app"
    before.mkdir()
    (before / "pyproject.toml").touch()
    lived(open_site(before), "KeyError: 1")
    after = before.rename(tmp_path / "shop")
    site = open_site(after)
    assert len(lived(site, "ValueError: 2")) == 2
    (after / "pyproject.toml").write_text('[tool.whet]\nproject = "warehouse"\n')
    assert len(lived(open_site(after), "TypeError: 3")) == 3


@pytest.mark.parametrize("name", ["", "a/b", "-x", "x\ny", "x" * 201])
def test_what_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(WhetError, match="project"):
        open_site(tmp_path, project=name)


def test_commands_say_so_and_pytest_goes_on_without(tmp_path: Path) -> None:
    shared = f"sqlite:///{tmp_path}/team.db"
    for folder in ("a", "b"):
        root = tmp_path / folder / "app"
        (root / "tests").mkdir(parents=True)
        (root / "pyproject.toml").write_text(EXECUTOR_ONLY)
        (root / "tests" / "test_it.py").write_text("def test_it():\n    assert True\n")
    assert whet("run", tmp_path / "a" / "app", WHET_DATABASE_URL=shared).returncode == 0
    refused = whet("run", tmp_path / "b" / "app", WHET_DATABASE_URL=shared)
    assert refused.returncode == 2
    assert "The store has a project 'app' already" in refused.stderr
    command = [sys.executable, "-m", "pytest", "--whet", "-q"]
    went_on = subprocess.run(
        command,
        cwd=tmp_path / "b" / "app",
        env=environment(WHET_DATABASE_URL=shared),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert went_on.returncode == 0, went_on.stdout
    assert "The store has a project 'app' already" in went_on.stdout
