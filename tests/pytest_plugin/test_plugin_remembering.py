"""What `pytest --whet` leaves behind: the run, what had changed, and what failing tests said, masked."""

from pathlib import Path

import pytest
from tests.memory.episodes import run as run_of
from tests.pytest_plugin.projects import git, project, run, said

from whet.bootstrap.site import open_site
from whet.core.memories import Memory, Wanted
from whet.memory.embedding import HashedEmbedder
from whet.memory.facts import fact_claims
from whet.memory.remembering import keep

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
MANY = """
    import pytest

    @pytest.mark.parametrize("n", range(60))
    def test_many(n):
        assert n < 5
"""
FAILING = f"""
    from shop import price

    def test_price():
        assert price("{TOKEN}") == 3

    def test_broken(nothing_of_the_kind):
        pass

    def test_fine():
        pass
"""
SHOP = """
    def price(token):
        raise KeyError(f"no price for {token}")
"""
QUIET = "def test_one(): pass\n"
SETTINGS = "[tool.whet.memory]\n{}\n[tool.pytest.ini_options]\npythonpath = ['.']\n"


def remembered(root: Path, topic: str) -> list[Memory]:
    site = open_site(root)
    with site.store() as store:
        return store.memories.newest(Wanted(project=site.project.name, topics=(topic,)), 1000)


@pytest.fixture(scope="module")
def red(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ran twice, after a change."""
    files = {"tests/test_shop.py": FAILING, "shop.py": SHOP, "pyproject.toml": SETTINGS.format("")}
    root = project(tmp_path_factory.mktemp("red") / "shop", files)
    (root / "pytest.ini").unlink()
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    (root / "shop.py").write_text((root / "shop.py").read_text() + "# changed\n")
    for _ in range(2):
        done = run(root)
        assert "not remembered" not in said(done), said(done)
    return root


def test_a_run_is_remembered_with_what_changed_and_what_failed(red: Path) -> None:
    newest, first = remembered(red, "experience")
    assert first.about["changed"] == newest.about["changed"] == "shop.py"
    assert (newest.about["tests"], newest.about["failed"], newest.about["complete"]) == (3, 2, True)
    assert "2 failed" in newest.text
    assert "changed:shop.py" in newest.subjects


def test_what_failing_tests_said_is_remembered_once_counted_and_masked(red: Path) -> None:
    failures = {each.about["test"]: each for each in remembered(red, "failure")}
    price = failures["tests/test_shop.py::test_price"]
    assert price.support == 2
    assert "failed: KeyError: 'no price for" in price.text
    assert TOKEN not in price.model_dump_json()
    assert {"exception:KeyError", "file:shop.py", "test:tests/test_shop.py::test_price"} <= set(price.subjects)
    assert "fixture 'nothing_of_the_kind' not found" in failures["tests/test_shop.py::test_broken"].text


def test_only_the_first_failures_are_remembered(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_many.py": MANY})
    run(root)
    failures = remembered(root, "failure")
    assert len(failures) == 50
    assert max(len(each.text) for each in failures) <= 4000


def test_with_workers_too(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_a.py": "def test_a():\n    assert {}['key']\n", "test_b.py": QUIET})
    run(root, "-n", "2")
    (failure,) = remembered(root, "failure")
    assert "exception:KeyError" in failure.subjects


def test_a_green_run_leaves_one_memory(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_a.py": QUIET})
    run(root)
    (only,) = remembered(root, "experience")
    assert only.text == "A run of 1 tests; nothing failed. What had changed is not known."
    assert remembered(root, "failure") == []


def test_nothing_when_settings_say_so(tmp_path: Path) -> None:
    files = {"test_a.py": "def test_a(): assert 0\n", "pyproject.toml": SETTINGS.format("enabled = false")}
    root = project(tmp_path, files)
    run(root)
    assert remembered(root, "experience") == remembered(root, "failure") == []


def test_quarantined_and_retried_failures_are_not_remembered_as_failures(tmp_path: Path) -> None:
    root = project(tmp_path, {"test_a.py": "def test_a(): assert 0\n", "test_b.py": QUIET})
    with open_site(root).store() as store:
        store.sheets.quarantine("test_a.py::test_a", "known")
    run(root)
    assert remembered(root, "failure") == []


def test_work_is_counted_in_pieces_whoever_edits_tests_mends_tests_and_commits(tmp_path: Path) -> None:
    """Each time a file is taken up: red, mended, green, committed. What others changed before is no part of it."""
    files = {"prices.py": "ONE = 1\n", "names.py": "", "pytest.ini": "[pytest]\npythonpath = .\n"}
    files["test_prices.py"] = "import prices, names\ndef test_one(): assert prices.ONE == 1\n"
    root = project(tmp_path, files)
    git(root, "init", "-q")
    _commit(root)
    run(root)  # everything is new, which says nothing about single files
    for number in range(5):
        for prices in ("ONE = 2\n", f"ONE = 1  # {number}\n"):
            (root / "prices.py").write_text(prices)
            run(root)
        _commit(root)
        (root / "names.py").write_text(f"# {number}\n")
        run(root)
        _commit(root)
    run(root)  # once more, as it was committed: the same piece of work
    claims = {claim.names: claim.tally for claim in fact_claims(remembered(root, "experience"))}
    assert claims["prices.py", "test_prices.py"] == (5, 0, 0, 5)


def test_runs_alone_keep_the_bound_and_find_facts(tmp_path: Path) -> None:
    """Nobody ever visits: the first run of a day looks for facts, every run keeps the bound."""
    prices = [run_of(n, ["test_a.py::test_a"], ["prices.py"]) for n in range(6)]
    others = [run_of(100 + n, [], ["names.py"]) for n in range(30)]
    root = project(
        tmp_path / "shop", {"test_a.py": QUIET, "pyproject.toml": SETTINGS.format("keep = 40\nkeep_days = 1e5")}
    )
    site = open_site(root)
    with site.store() as store:
        keep(store.memories, HashedEmbedder(), [*prices, *others])
    run(root)
    (fact,) = remembered(root, "fact")
    assert fact.text == "Tests in test_a.py fail when prices.py changes: 6 of 6 times; otherwise 0 of 30."
    for _ in range(4):
        run(root)
    assert len(remembered(root, "experience")) <= 39


def _commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", "work")
