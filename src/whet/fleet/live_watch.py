"""Reward constraints where experiences are lived: what is suspected is shown, and marked before anybody learns."""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from pydantic import ValidationError

from whet.core.agent import Agent
from whet.core.errors import WhetError
from whet.core.ports import Store
from whet.core.records import Experience
from whet.fleet.reward_safety import REMEMBERED, RewardWatch, Suspicion

Tell = Callable[[str], None]


class LiveWatch:
    """What is usual is known from the store, and read when an agent is first met."""

    def __init__(self, store: Store, agents: Mapping[str, Agent[Any, Any, Any]]) -> None:
        self._store, self._watch = store, RewardWatch(agents)
        self._met: set[str] = set()
        self._lock = Lock()

    def judged(self, experience: Experience, tell: Tell | None = None) -> Experience:
        """The experience, marked when its reward was not earned. The reward itself stays what it was."""
        with self._lock:
            self._meet(experience.agent)
        suspicion = self._watch.look(experience)
        if suspicion is None or experience.outcome.get("unearned") is not None:
            return experience
        self._show(experience, suspicion)
        if tell is not None:
            tell(f"What {experience.agent} earned does not count. {suspicion.why}")
        return _marked(experience, suspicion.why)

    def _show(self, experience: Experience, suspicion: Suspicion) -> None:
        """Before it is stored: who is killed between the two shows it twice, which is once."""
        if suspicion.accuses:
            self._store.runs.note_findings(experience.run_id, [suspicion.finding()])

    def _meet(self, agent: str) -> None:
        if agent in self._met:
            return
        self._met.add(agent)
        for earlier in reversed(self._store.experiences.recent(agent, REMEMBERED)):
            try:
                self._watch.look(earlier)
            except (ValidationError, WhetError):  # of another version of the agent
                continue


def sharing(experience: Experience, agent: str) -> Experience:
    """Of whoever shared the credit of an agent that did not earn it."""
    return _marked(experience, f"It has a share of what {agent} earned, and that does not count.")


def _marked(experience: Experience, why: str) -> Experience:
    return experience.model_copy(update={"outcome": {**experience.outcome, "unearned": why}})
