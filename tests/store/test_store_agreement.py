"""SQLite and PostgreSQL answer any programme of calls alike."""

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from tests.postgres import PostgresServer

from whet.checks.candidates import AT, new
from whet.checks.sheets import plain, sheet
from whet.checks.store_samples import CATEGORY, FLEET, OWN, SITUATION, SampleState, experience, finding, pending
from whet.core.candidates import Stage, Step
from whet.core.errors import WhetError
from whet.core.learning_log import Judged, Quality
from whet.core.ports import Cell, Entry, Lesson, Move, TestVerdict
from whet.core.records import Decision, Experience, Finding, Review
from whet.store import SqlStore, open_store

TEXT = st.text(st.characters(exclude_categories=()), max_size=8)  # NUL and lone surrogates included
NAMES = st.sampled_from(["a", "b", "ü\0"])
VALUES = st.floats(-1e6, 1e6)
CELLS = st.sampled_from([OWN, OWN._replace(action="stop"), OWN._replace(owner="b\0"), CATEGORY, FLEET])
MOVES = st.builds(Move, cell=CELLS, rate=st.floats(1e-3, 1.0), averaged=st.booleans())
LESSONS = st.builds(
    Lesson,
    target=VALUES,
    own=st.lists(MOVES, min_size=1, max_size=2).map(tuple),
    shared=st.lists(MOVES, max_size=3).map(tuple),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
ENTRIES = st.builds(Entry, q_value=VALUES, visits=st.integers(0, 9), mean=VALUES, m2=st.floats(0, 1e9))
VERDICTS = st.builds(
    TestVerdict,
    test=TEXT,
    outcome=st.sampled_from(["passed", "failed", "error", "skipped"]),
    duration_seconds=st.floats(0, 100),
    condition=st.sampled_from(["own-order", "shuffled"]),
    message=TEXT,
    network=st.none() | st.booleans(),
    slept_seconds=st.none() | st.floats(0, 10),
)


class Agreement(RuleBasedStateMachine):
    postgres: ClassVar[PostgresServer]
    template: ClassVar[Path]

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="whet-agreement-"))
        shutil.copy(self.template, self.directory / "whet.db")
        self.database = self.postgres.create(template="whet_migrated")
        urls = (f"sqlite:///{self.directory / 'whet.db'}", self.postgres.url(self.database))
        self.stores = tuple(open_store(url, audit_key=b"key") for url in urls)
        self.decisions: list[Decision] = []

    def both(self, call: Callable[[SqlStore], Any]) -> None:
        sqlite, postgres = (_answer(call, store) for store in self.stores)
        assert sqlite == postgres

    @rule(
        key=NAMES, lesson=st.none() | LESSONS, state=st.dictionaries(TEXT, JSON, max_size=3), credited=st.floats(-9, 9)
    )
    def learn(self, key: str, lesson: Lesson | None, state: dict[str, object], credited: float) -> None:
        given = experience(key, credited=credited, state=state, outcome=state)
        self.both(lambda store: store.experiences.learn(given, lesson))
        self.both(lambda store: [json.dumps(each.state, sort_keys=True) for each in store.experiences.recent(limit=1)])

    @rule(lesson=LESSONS)
    def replay(self, lesson: Lesson) -> None:
        self.both(lambda store: store.tables.replay(lesson))

    @rule(values=st.dictionaries(CELLS, VALUES, max_size=3))
    def initialise(self, values: dict[Cell, float]) -> None:
        self.both(lambda store: store.tables.initialise(values))

    @rule(cell=CELLS)
    def wipe(self, cell: Cell) -> None:
        self.both(lambda store: store.tables.wipe(cell.scope, cell.owner))

    @rule(cell=CELLS, entries=st.dictionaries(TEXT, ENTRIES, max_size=3))
    def restore(self, cell: Cell, entries: dict[str, Entry]) -> None:
        rows = {cell._replace(state_key=key): entry for key, entry in entries.items()}
        self.both(lambda store: store.tables.restore(cell.scope, cell.owner, rows))

    @rule(kept=st.integers(0, 4), quality=st.sampled_from(Quality), why=TEXT, ahead=st.integers(-1, 1))
    def read_on(self, kept: int, quality: Quality, why: str, ahead: int) -> None:
        seen = self.stores[0].learning.unread(2)
        self.both(lambda store: store.learning.unread(2))
        judged = [Judged(each.experience.key, "runner", quality, why) for each in seen]
        position = seen[-1].position + ahead if seen else 0
        self.both(lambda store: store.learning.judge(judged, position))
        lived = [each.experience for each in seen if isinstance(each.experience, Experience)]
        self.both(lambda store: store.learning.collect(lived, AT))
        self.both(lambda store: (store.learning.close_batch("runner", AT, 2), store.learning.trim(kept)))

    @rule(key=NAMES, agent=NAMES)
    def make(self, key: str, agent: str) -> None:
        self.both(lambda store: store.candidates.add(new(key, agent), AT))

    @rule(
        number=st.integers(1, 3),
        seen=st.sampled_from(Stage),
        to=st.sampled_from(Stage),
        share=st.sampled_from([0.0, 0.5]),
        evidence=st.dictionaries(TEXT, JSON, max_size=2),
    )
    def move(self, number: int, seen: Stage, to: Stage, share: float, evidence: dict[str, Any]) -> None:
        taken = Step(number=number, seen=seen, seen_share=0.0, to=to, share=share, why="Why.", evidence=evidence)
        self.both(lambda store: store.candidates.move(taken, AT))
        self.both(lambda store: store.candidates.note(number, evidence))

    @rule(agent=NAMES, state_key=NAMES, label=TEXT)
    def decide(self, agent: str, state_key: str, label: str) -> None:
        made = pending(agent=agent, state_key=state_key, policy=label)
        self.decisions.append(made)
        self.both(lambda store: store.decisions.record(made, SampleState(situation=SITUATION, label=label)))
        self.both(lambda store: store.decisions.find(made.id[:8]))

    @precondition(lambda self: self.decisions)
    @rule(data=st.data(), verdict=st.sampled_from(Review), by=TEXT)
    def judge(self, data: st.DataObject, verdict: Review, by: str) -> None:
        made = data.draw(st.sampled_from(self.decisions))
        self.both(lambda store: _without_time(store.decisions.rule(made.id, verdict, "stop", by)))

    @rule(agent=NAMES, state_key=NAMES)
    def revoke(self, agent: str, state_key: str) -> None:
        self.both(lambda store: store.decisions.revoke(agent, state_key))

    @rule(priorities=st.dictionaries(NAMES, st.floats(0, 1e9), max_size=3), seed=st.integers(0, 9))
    def prioritise(self, priorities: dict[str, float], seed: int) -> None:
        self.both(lambda store: store.experiences.set_priorities(priorities))
        self.both(lambda store: store.experiences.sample("runner", 4, seed))

    @rule(run=NAMES, found=st.lists(st.builds(finding, NAMES, TEXT), max_size=3))
    def find(self, run: str, found: list[Finding]) -> None:
        self.both(lambda store: store.runs.note_findings(run, found))

    @rule(run=NAMES, verdicts=st.lists(VERDICTS, max_size=5))
    def record(self, run: str, verdicts: list[TestVerdict]) -> None:
        self.both(lambda store: store.history.record(run, f"code of {run}", verdicts))

    @rule(lines=st.dictionaries(TEXT, st.dictionaries(TEXT, st.lists(st.integers(0, 300), max_size=4), max_size=2)))
    def cover(self, lines: dict[str, dict[str, list[int]]]) -> None:
        self.both(lambda store: store.history.cover("code", lines))

    @rule(number=st.integers(0, 3), tests=st.lists(TEXT, unique=True, max_size=4), branch=st.none() | NAMES)
    def add(self, number: int, tests: list[str], branch: str | None) -> None:
        columns = {"tests": tests, "outcomes": "f" * len(tests), "seconds": [0.5] * len(tests)}
        given = sheet(number, id=branch or "", branch=branch, **columns)
        self.both(lambda store: store.sheets.add([given]))
        self.both(lambda store: store.sheets.count([branch], upto=given.key))

    @rule(renamed=st.dictionaries(TEXT, TEXT, max_size=2), test=TEXT, reason=st.none() | TEXT)
    def decree(self, renamed: dict[str, str], test: str, reason: str | None) -> None:
        self.both(lambda store: store.sheets.rename(renamed))
        self.both(lambda s: s.sheets.release(test) if reason is None else s.sheets.quarantine(test, reason))

    @rule(lines=st.dictionaries(TEXT, st.dictionaries(TEXT, st.sets(st.integers(0, 300), max_size=4), max_size=2)))
    def map_tests(self, lines: dict[str, dict[str, set[int]]]) -> None:
        sources = {file: file.encode("utf-8", "surrogatepass") for files in lines.values() for file in files}
        self.both(lambda store: store.sheets.map_tests(lines, sources))
        self.both(lambda store: store.sheets.executed(sources))

    def teardown(self) -> None:
        try:
            for view in _VIEWS:
                self.both(view)
        finally:
            for store in self.stores:
                store.close()
            self.postgres.drop(self.database)
            shutil.rmtree(self.directory)


_VIEWS: tuple[Callable[[SqlStore], Any], ...] = (
    lambda store: [(name, store.tables.rows(*name)) for name in store.tables.owners()],
    lambda store: (store.experiences.recent(), store.experiences.count("runner")),
    lambda store: (store.decisions.recent(), store.decisions.pending(), store.decisions.count("a")),
    lambda store: (store.runs.findings(), store.runs.findings("a")),
    lambda store: (store.history.tests("code of a"), store.history.conditions("code of a"), store.history.traits()),
    lambda store: store.history.coverage(),
    lambda store: (store.learning.unread(9), store.learning.verdicts(), store.learning.refused()),
    lambda store: [(batch, store.learning.members(batch.number)) for batch in store.learning.batches()],
    lambda store: (store.learning.waiting("runner"), store.learning.trained_before("runner", 99, 9)),
    lambda store: (store.candidates.all(), store.candidates.at_stage("a", Stage.TRAINED)),
    lambda store: ([plain(each) for each in store.sheets.read()], store.sheets.branches()),
    lambda store: (store.sheets.renamed(), store.sheets.quarantined(), store.sheets.mapped()),
    lambda store: [(entry.seq, entry.kind, entry.subject, entry.payload) for entry in store.audit.entries(1000)],
    lambda store: (store.audit.verify().problem, store.audit.verify().entries),
)


def _answer(call: Callable[[SqlStore], Any], store: SqlStore) -> tuple[str, Any]:
    try:
        return "answered", call(store)
    except WhetError as error:
        return "refused", (type(error), str(error))


def _without_time(ruling: Any) -> dict[str, Any]:
    return {name: value for name, value in ruling.model_dump().items() if name != "at"}


@pytest.fixture
def template(tmp_path: Path) -> Path:
    path = tmp_path / "template.db"
    open_store(f"sqlite:///{path}").close()
    return path


def test_databases_agree(postgres: PostgresServer, template: Path) -> None:
    Agreement.postgres, Agreement.template = postgres, template
    run_state_machine_as_test(
        Agreement,
        settings=settings(
            max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
