"""A finding's page says which earlier ones it resembles, and why; of what was forgotten since it says so."""

from pathlib import Path

from fastapi.testclient import TestClient

from whet.bootstrap.remembering import fleet_memory
from whet.bootstrap.site import open_site
from whet.core.people import Role
from whet.core.ports import RunRecord
from whet.core.records import Finding, Recollection, now
from whet.memory.remembering import keep
from whet.memory.remembering_failures import failure_memory
from whet.service.app import create_app
from whet.service.keys import mint, service_secret


def test_what_a_finding_resembles_is_on_its_page(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "empty"\n')
    site = open_site(tmp_path)
    with site.store() as store:
        memory, key = fleet_memory(site, store), mint(service_secret(site), "ada", Role.VIEWER)
        store.people.add(key.kept, "the test", now())
        earlier = failure_memory(
            memory.project, "t.py::test_a", "KeyError: 'price'\nprices.py:4: in total", at=now(), run_id="r0"
        )
        keep(store.memories, memory.embedder, [earlier])
        found = Finding(
            kind="failing-test",
            title="test_b fails",
            severity="high",
            evidence="KeyError: 'cost'",
            test="t.py::test_b",
            memories=(Recollection(memory=earlier.id, why="about the same file", weight=1.0),),
            known=(Recollection(memory="f" * 32, why="it held 14 of 15 times", weight=0.7),),
        )
        run = RunRecord(id="r1", project=memory.project, code_version="", budget_seconds=1.0, seed=1, started_at=now())
        store.runs.start(run)
        store.runs.note_findings("r1", [found])
        headers = {"host": "127.0.0.1", "accept": "text/html", "authorization": f"Bearer {key.text}"}
        with TestClient(create_app(site, store), headers=headers) as client:
            shown = client.get(f"/findings/{found.fingerprint()}").text
            assert "What it resembles" in shown
            assert "about the same file" in shown
            assert "What is known" in shown
            assert "it held 14 of 15 times" in shown
            assert "t.py::test_a failed: KeyError" in shown
            assert "prices.py:4" not in shown  # what it said in full is in the memory; here it would be one long line
            store.memories.forget([earlier.id], "asked to")
            assert "forgotten since" in client.get(f"/findings/{found.fingerprint()}").text
