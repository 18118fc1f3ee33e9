"""Whatever steps are tried, in whatever order: candidates go as a table of nine lines says, and nowhere else."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from whet.checks.candidates import AT, new
from whet.core.candidates import Stage, Step
from whet.core.errors import RefusedInput
from whet.store import open_store

WAYS = {
    "trained": ("proven", "rejected"),
    "proven": ("canary", "rejected"),
    "canary": ("production", "rolled-back"),
    "production": ("retired", "rolled-back"),
    "retired": ("production",),
    "rejected": (),
    "rolled-back": (),
}
AGENTS = ("x", "y")
# Mostly where a candidate really stands: blind guesses seldom get anywhere.
STEPS = st.lists(st.sampled_from(["proven", "canary", "production", "retired", "rejected", "rolled-back"]), max_size=4)


@dataclass
class _Known:
    agent: str
    stage: str = "trained"
    share: float = 0.0


class Candidates(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = open_store(f"sqlite:///{Path(self.folder.name) / 'whet.db'}")
        self.model: dict[int, _Known] = {}

    @rule(key=st.integers(1, 5), agent=st.sampled_from(AGENTS))
    def add(self, key: int, agent: str) -> None:
        made = self.store.candidates.add(new(f"batch:{key}", agent), AT)
        self.model.setdefault(made.number, _Known(agent))

    @rule(number=st.integers(1, 5), ways=STEPS, share=st.sampled_from([0.0, 0.1, 1.0]))
    def go(self, number: int, ways: list[str], share: float) -> None:
        for to in ways:
            known = self.model.get(number, _Known("nobody"))
            self._step(number, known.stage, known.share, to, share)

    @rule(number=st.integers(1, 6), seen=st.sampled_from(Stage), to=st.sampled_from(Stage), share=st.floats(0, 1))
    def guess(self, number: int, seen: Stage, to: Stage, share: float) -> None:
        self._step(number, seen.value, 0.0, to.value, share)

    def _step(self, number: int, seen: str, seen_share: float, to: str, share: float) -> None:
        step = Step(number=number, seen=Stage(seen), seen_share=seen_share, to=Stage(to), share=share, why="Why.")
        try:
            moved = self.store.candidates.move(step, AT)
        except RefusedInput:
            assert to != seen
            assert to not in WAYS[seen]
            return
        assert to == seen or to in WAYS[seen]
        assert (moved is not None) == self._taken(number, seen, seen_share, to, share)

    def _taken(self, number: int, seen: str, seen_share: float, to: str, share: float) -> bool:
        known = self.model.get(number)
        if known is None or (known.stage, known.share) != (seen, seen_share):
            return False
        others = [each for each in self.model.values() if each is not known and each.agent == known.agent]
        if to == "canary" and any(each.stage == "canary" for each in others):
            return False
        for each in others:
            if to == "production" and each.stage == "production":
                each.stage, each.share = "retired", 0.0
        known.stage, known.share = to, share
        return True

    @invariant()
    def all_stand_where_they_should(self) -> None:
        found = {each.number: _Known(each.agent, each.stage.value, each.share) for each in self.store.candidates.all()}
        assert found == self.model

    def teardown(self) -> None:
        assert self.store.audit.verify().problem is None
        self.store.close()
        self.folder.cleanup()


def test_candidates_go_as_the_table_says() -> None:
    run_state_machine_as_test(
        Candidates,
        settings=settings(
            max_examples=8,
            stateful_step_count=20,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
