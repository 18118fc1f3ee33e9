"""Which case to run next, as a Gymnasium environment: a step executes the chosen case, and its outcome is the reward.

    environment = CaseEnvironment(cases, Live("http://127.0.0.1:8000"), budget=30)
    observation, info = environment.reset(seed=7)  # info["action_mask"]: candidates that there are
    observation, reward, terminated, truncated, info = environment.step(action)  # info["verdict"]

An episode is one sitting with a budget of requests. Before each choice a few candidates are drawn from the cases that
were not run yet and that the budget still allows. A failure whose cause is new pays 1; one that was known, and
a case that passes, pay nothing: they only cost requests.
"""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from whet.core.errors import MissingTool, RefusedInput
from whet.improvement.cases import Case
from whet.improvement.cases_features import BUCKETS, WIDTH, features
from whet.improvement.cases_running import Runner, Verdict
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import Flags, Floats, Whole

try:
    from gymnasium import Env, spaces
except ModuleNotFoundError as missing:
    raise MissingTool("Gymnasium is not installed.", "Run pip install 'whet[deep]'.") from missing

CANDIDATES = 32
TOLD = 4  # beside its features: of a candidate, or of the sitting so far
_CAUSES = 10.0
_BOUND = 1000.0


def layout(candidates: int = CANDIDATES) -> Layout:
    """A token for the sitting so far, and one for each candidate."""
    return Layout(tokens=candidates + 1, width=WIDTH + TOLD)


class CaseEnvironment(Env[Floats, np.int64]):
    def __init__(self, cases: Sequence[Case], runner: Runner, budget: int, candidates: int = CANDIDATES) -> None:
        longest = max((len(case.steps) for case in cases), default=0)
        if not cases or budget < longest:
            trouble = f"A budget of {budget} requests is not enough for {len(cases)} cases of up to {longest} requests."
            raise RefusedInput(trouble, "Give at least one case, and a budget for the longest.")
        self.cases, self.budget = tuple(cases), budget
        self._runner = runner
        self._rows = np.stack([features(case) for case in cases])
        self._costs = np.array([max(1, len(case.steps)) for case in cases])
        self.observation_space = spaces.Box(-_BOUND, _BOUND, (layout(candidates).size,), np.float32)
        self.action_space = spaces.Discrete(candidates)
        self._begin()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._begin()
        return self._observation(), self._info()

    def step(self, action: np.int64) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        if not self._mask()[action]:
            raise RefusedInput(f"Candidate {action} cannot be run now.", 'Choose one that info["action_mask"] allows.')
        case = int(self._candidates[action])
        verdict = self._runner.run(self.cases[case])
        reward = self._note(case, verdict)
        self._draw()
        ended = not self._mask().any()
        return self._observation(), reward, ended, False, {**self._info(), "verdict": verdict}

    def candidate(self, place: int) -> Case:
        return self.cases[int(self._candidates[place])]

    @property
    def causes(self) -> frozenset[str]:
        return frozenset(self._causes)

    @property
    def requests(self) -> int:
        """That this sitting has sent."""
        return self.budget - self._left

    def fork(self, seed: int) -> "CaseEnvironment":
        """The same sitting at the same place, with draws of its own from here on."""
        other = copy.copy(self)
        other._causes, other._found = set(self._causes), list(self._found)
        other._failing, other._passing = list(self._failing), list(self._passing)
        other._np_random = np.random.default_rng(seed)
        return other

    def _begin(self) -> None:
        self._waiting: Whole = np.arange(len(self.cases))
        self._left = self.budget
        self._since = 0  # requests since the last new cause
        self._causes: set[str] = set()
        self._found: list[int] = []  # cases that showed a new cause
        self._failing: list[int] = []
        self._passing: list[int] = []
        self._draw()

    def _draw(self) -> None:
        """A place without a candidate is −1."""
        ready = self._waiting[self._costs[self._waiting] <= self._left]
        places = int(self.action_space.n)  # type: ignore[attr-defined]  # it is Discrete
        self._candidates = np.full(places, -1)
        drawn = self.np_random.permutation(ready)[:places]
        self._candidates[: len(drawn)] = drawn

    def _note(self, case: int, verdict: Verdict) -> float:
        self._left -= verdict.requests
        self._since += verdict.requests
        self._waiting = self._waiting[self._waiting != case]
        (self._passing if verdict.cause is None else self._failing).append(case)
        if verdict.cause is None or verdict.cause in self._causes:
            return 0.0
        self._causes.add(verdict.cause)
        self._found.append(case)
        self._since = 0
        return 1.0

    def _mask(self) -> Flags:
        return np.asarray(self._candidates >= 0)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._mask().astype(np.int8)}

    def _observation(self) -> Floats:
        seen = np.zeros((len(self._candidates) + 1, WIDTH + TOLD), dtype=np.float32)
        seen[0, :WIDTH] = self._rows[self._found].mean(axis=0) if self._found else 0.0
        repeats = len(self._failing) - len(self._found)
        seen[0, WIDTH:] = (
            self._left / self.budget,
            len(self._found) / _CAUSES,
            repeats / _CAUSES,
            self._since / self.budget,
        )
        there = self._candidates >= 0
        rows = self._rows[self._candidates[there]]
        seen[1:][there, :WIDTH] = rows
        seen[1:][there, WIDTH:] = np.stack(self._relations(rows), axis=1)
        return seen.ravel()

    def _relations(self, rows: Floats) -> tuple[Floats, ...]:
        """How alike each is to what failed and to what passed in this sitting; and that it is there at all."""
        failed, passed = self._nearest(rows, self._failing), self._nearest(rows, self._passing)
        return failed, passed, failed - passed, np.ones(len(rows), dtype=np.float32)

    def _nearest(self, rows: Floats, others: list[int]) -> Floats:
        if not others:
            return np.zeros(len(rows), dtype=np.float32)
        return np.asarray((rows[:, :BUCKETS] @ self._rows[others, :BUCKETS].T).max(axis=1))
