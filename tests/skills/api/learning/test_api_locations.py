"""Where an answer says that a thing is, it is taken to be."""

import random

import pytest
from tests.skills.api.small_service import contract, does, in_path, operation, told

from whet.skills.api.contract.model import Json
from whet.skills.api.learning.entities import Entities
from whet.skills.api.learning.locations import Locations

CONTRACT = contract({
    "/reports": {"post": does("202", "201")},
    "/reports/{name}": {"get": does("200", parameters=(in_path("name", "string"),))},
    "/jobs/{job_id}": {"get": does("200", parameters=(in_path("job_id"),))},
    "/teams/{team}/jobs/{job}": {"get": does("200", parameters=(in_path("team", "string"), in_path("job")))},
    "/jobs/{job_id}/log": {"get": does("200", parameters=(in_path("job_id"),))},
})  # fmt: skip
POST = operation(CONTRACT, "POST /reports")


@pytest.fixture
def entities() -> Entities:
    return Entities(random.Random(0), Locations(CONTRACT.operations, "/api"))


def shown(entities: Entities, kind: str) -> list[dict[str, Json]]:
    return [dict(one.fields) for one in entities.alive(kind)]


@pytest.mark.parametrize("header", ["Location", "Operation-Location", "Content-Location"])
def test_a_job_is_made_where_a_report_was_asked_for(entities: Entities, header: str) -> None:
    entities.take_in(told(POST, 202, {"state": "queued"}, headers={header: "http://here/api/jobs/7?wait=1"}))
    (job,) = shown(entities, "/jobs")
    assert (job["id"], job["job_id"], job["state"]) == (7, 7, "queued")
    assert not entities.lives("/reports")  # not yet: what was asked for is still being made


def test_what_is_done_is_there_itself_too(entities: Entities) -> None:
    entities.take_in(told(POST, 201, {"name": "r1"}, headers={"Location": "/api/teams/a%20b/jobs/8"}))
    (job,) = entities.alive("/teams/{}/jobs")
    assert job.place == {"/teams/{}": "a b", "/teams/{}/jobs/{}": 8}
    assert shown(entities, "/reports")[0]["name"] == "r1"


@pytest.mark.parametrize("where", ["/api/reports/r1", "/api/jobs/7/log", "/elsewhere/7", "", "http://[", "/api/jobs/"])
def test_what_is_in_its_own_collection_or_nowhere_is_not_elsewhere(entities: Entities, where: str) -> None:
    entities.take_in(told(POST, 201, {"name": "r1"}, headers={"Location": where}))
    assert len(shown(entities, "/reports")) == 1
    assert not entities.lives("/jobs")


def test_where_something_was_read_it_was_not_made(entities: Entities) -> None:
    read = operation(CONTRACT, "GET /reports/{name}")
    entities.take_in(told(read, 200, {"name": "r1"}, path={"name": "r1"}, headers={"Location": "/api/jobs/7"}))
    assert not entities.lives("/jobs")
