"""Several runs and several services on one project's store, with real processes."""

import json
import subprocess
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from tests.cli.api_services import api
from tests.cli.command_line import WHET, environment
from tests.skills.api.shop_service import SHOP, Shop
from tests.skills.api.small_service import Answer, Heard, Small, document, does, record, served

from whet.bootstrap.site import open_site
from whet.skills.api import knowledge as memory

OTHER = document({f"/other{at}": {"post": does("201", body=record(("a",), a={"type": "string"}))} for at in range(6)})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\nversion = "1"\n')
    return tmp_path


def options(small: Small, seed: int, *more: str) -> list[str]:
    return [f"{small.url}/openapi.json", "--requests", "80", "--seed", str(seed), "--format", "json", *more]


def ran(project: Path, small: Small, seed: int, *more: str) -> tuple[dict[str, Any], str]:
    """The report and what stands on stderr."""
    code, out, err = api(project, *options(small, seed, *more))
    assert code in (0, 1), err
    return json.loads(out), err


def kept(project: Path) -> dict[str, memory.Knowledge]:
    with open_site(project).store() as store:
        return {name: memory.read(store.knowledge.load(name)) for name in store.knowledge.services()}


class Waits:
    """A service that answers its first request when the other has had its first, too."""

    def __init__(self, shop: Shop, together: Barrier) -> None:
        self._shop, self._together = shop, together
        self._begun = False

    def __call__(self, heard: Heard) -> Answer:
        if not self._begun:
            self._begun = True
            self._together.wait()
        return self._shop(heard)


def tries(known: memory.Knowledge, table: str) -> float:
    return sum(float(won + lost) for _, won, lost in known.beliefs[table])


def test_two_runs_at_once_lose_nothing(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    alone: list[memory.Knowledge] = []
    for seed in (1, 2):
        place = tmp_path_factory.mktemp("alone")
        with served(Shop(seed), dict(SHOP.given)) as small:
            ran(place, small, seed)
        alone += kept(place).values()
    together = Barrier(2, timeout=60)  # both have begun, with what was known then, before either goes on
    first, second = (Waits(Shop(seed), together) for seed in (1, 2))
    with served(first, dict(SHOP.given)) as one, served(second, dict(SHOP.given)) as other:
        both = [
            subprocess.Popen([str(WHET), "api", *options(small, seed), "-C", str(project)], env=environment(),
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            for seed, small in ((1, one), (2, other))
        ]  # fmt: skip
        for process in both:
            _, err = process.communicate(timeout=120)
            assert process.returncode in (0, 1), err
    (known,) = kept(project).values()

    assert known.runs == 2
    for table in ("sources", "edges"):
        assert tries(known, table) == pytest.approx(sum(tries(one, table) for one in alone), rel=0.02)
    causes = {fault["suspicion"]["cause"] for fault in known.faults}
    assert causes == {fault["suspicion"]["cause"] for one in alone for fault in one.faults}


def test_another_service_of_the_same_title_starts_afresh_says_so_and_both_are_known_again(project: Path) -> None:
    with served(Shop(1), dict(SHOP.given)) as shop, served(lambda _: (201, {"id": 1}), OTHER) as other:
        ran(project, shop, 1)
        report, err = ran(project, other, 1)
        again, quiet = ran(project, other, 1)
        back, _ = ran(project, shop, 1)
    assert "another service" in err
    assert any("starts afresh" in str(note) for note in report["notes"])
    assert "another service" not in quiet
    assert (report["earlier_runs"], again["earlier_runs"], back["earlier_runs"]) == (0, 1, 1)
    assert sorted(one.runs for one in kept(project).values()) == [2, 2]


def test_a_contract_that_changed_is_still_the_same_service(project: Path) -> None:
    smaller = dict(SHOP.given)
    smaller["paths"] = {path: item for path, item in smaller["paths"].items() if "boxes" not in path}
    smaller["paths"]["/new"] = {"get": does("200")}
    with served(Shop(1), dict(SHOP.given)) as before, served(Shop(1), smaller) as after:
        ran(project, before, 1)
        report, err = ran(project, after, 1)
    assert report["earlier_runs"] == 1
    assert "another service" not in err
    assert any("it is new" in str(change) for change in report["changes"])


def test_fresh_leaves_out_what_was_known_and_takes_its_place(project: Path) -> None:
    with served(Shop(1), dict(SHOP.given)) as shop:
        ran(project, shop, 1)
        report, _ = ran(project, shop, 1, "--fresh")
    assert report["earlier_runs"] == 0
    assert [one.runs for one in kept(project).values()] == [1]
