"""A key that is not marked "not yet" is read somewhere."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.improvement.learning_site import START, in_production, live, made

import whet
from whet.bootstrap.learning import pipeline
from whet.settings import keys
from whet.settings.production import Learn, Production
from whet.settings.section import Section

PACKAGE = Path(whet.__file__).parent
ELSEWHERE = "check_seconds"  # by the command that watches, between its looks


def test_every_key_in_use_is_asked_for_by_name() -> None:
    sources = [path for path in PACKAGE.rglob("*.py") if (PACKAGE / "settings") not in path.parents]
    asked = set(re.findall(r"\.(\w+)", "\n".join(path.read_text(encoding="utf-8") for path in sources)))
    assert [f"{key.table}.{key.name}" for key in keys() if key.used and key.name not in asked] == []


def noting(section: type[Section], given: Section, asked: set[str]) -> Any:
    """The same settings, and which of their keys somebody looked at. Many names are those of other things, too."""

    class Noting(section):  # type: ignore[valid-type, misc]
        def __getattribute__(self, name: str) -> Any:
            if name in section.model_fields:
                asked.add(name)
            return super().__getattribute__(name)

    made_now = Noting.model_validate(given.model_dump())
    asked.clear()
    return made_now


@pytest.mark.parametrize(("table", "section"), [("learn", Learn), ("production", Production)])
def test_continuous_learning_reads_all_of_its_keys(tmp_path: Path, table: str, section: type[Section]) -> None:
    asked = set[str]()
    site = made(tmp_path / "project")
    in_production(site)
    told = noting(section, getattr(site.settings, table), asked)
    noted = replace(site, settings=site.settings.model_copy(update={table: told}))
    with noted.store() as store:
        live(noted, store, runs=40, first=40)
        with pipeline(noted, store) as learning:
            list(learning.tick(START + timedelta(hours=2)))
    used = {key.name for key in keys() if key.table == table and key.used}
    assert used - asked - {ELSEWHERE} == set()
