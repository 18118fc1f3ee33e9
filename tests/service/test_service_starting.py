"""What the service makes up for when it starts."""

import time
from pathlib import Path

from fastapi.testclient import TestClient
from tests.improvement.learning_site import SETTINGS, live, made

from whet.bootstrap.feedback import Listener
from whet.checks.store_samples import run_record
from whet.core.memories import Kind, Memory
from whet.core.records import now
from whet.memory.embedding import HashedEmbedder, embedder
from whet.service.app import create_app

AT_MOST_SECONDS = 30.0


def test_a_rating_that_was_kept_but_not_taught_is_taught(tmp_path: Path) -> None:
    site = made(tmp_path / "project")
    with site.store() as store:
        live(site, store, runs=3, first=0)
        store.runs.start(run_record("run-00002"))
        before = [each.reward.credited for each in store.experiences.recent(run_id="run-00002")]
        store.feedback.rate("run-00002", 1, "ada")
        with TestClient(create_app(site, store)):
            after = [each.reward.credited for each in store.experiences.recent(run_id="run-00002")]
            assert all(then < was for then, was in zip(after, before, strict=True))
        assert Listener(store, site.settings).catch_up() == []


def test_memories_get_their_places_by_the_model_that_settings_name(tmp_path: Path) -> None:
    site = made(tmp_path / "project", SETTINGS + '[tool.whet.memory]\nembedding = "minilm"\n')
    words, meaning = HashedEmbedder(), embedder("minilm").name
    note = Memory(project="project", kind=Kind.EPISODIC, topic="note", source="note:1", text="it is odd", at=now())
    with site.store() as store:
        store.memories.keep([note], words.name, words.embed([note.text]))
        with TestClient(create_app(site, store)):
            until = time.monotonic() + AT_MOST_SECONDS
            while store.memories.models("project").get(meaning) != 1 and time.monotonic() < until:
                time.sleep(0.05)
            assert store.memories.models("project").get(meaning) == 1
