"""Outcomes whose reward was not earned: fewer tests, less work or lower standards that look like speed or success.

A reward is never changed here. Whoever learns from experiences asks first, leaves out what is suspected, and says why:
the teacher when it is lived, the filter before it is trained with.
The constraints know what the agents measure today; an outcome with nothing to compare it to is not suspected.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from whet.core.agent import Agent
from whet.core.records import Experience, Finding, Outcome
from whet.fleet.reward_constraints import CONSTRAINTS, Scene, accuses

# So many earlier outcomes of an agent are what a new one is compared to.
REMEMBERED = 50


@dataclass(frozen=True)
class Suspicion:
    """`rule` names the constraint; `why` is the sentence people read. Without `accuses` the reward is in doubt and
    nobody is blamed."""

    rule: str
    why: str
    accuses: bool = True

    def finding(self) -> Finding:
        """Shown with the run's findings; met again it is the same finding."""
        return Finding(
            kind="suite-problem",
            title=f"A reward was not earned: {self.rule}",
            severity="medium",
            evidence=self.why,
            cause=f"reward: {self.rule}",
        )


@dataclass
class RewardWatch:
    """Looks at experiences in the order in which they happened, and remembers what is usual.

    >>> watch = RewardWatch(AGENTS)
    >>> for experience in earlier:
    ...     watch.look(experience)
    >>> suspicion = watch.look(newest)  # None: nothing speaks against it
    """

    agents: Mapping[str, Agent[Any, Any, Any]]
    _memories: dict[str, "_Memory"] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def look(self, experience: Experience) -> Suspicion | None:
        """Of a well-formed experience; pydantic's ValidationError for another. Threads may look at once."""
        agent = self.agents[experience.agent]
        state = agent.state_type.model_validate(experience.state)
        outcome = agent.outcome_type.model_validate(experience.outcome)
        if outcome.failed is not None or outcome.cut_short:
            return None  # punished already, or not learned from anyway
        action = agent.action(experience.decision.action)
        with self._lock:
            memory = self._memories.setdefault(agent.name, _Memory())
            found = _known(outcome) or _first(Scene(state, action, outcome, memory.earlier, memory.trusted))
            memory.keep(outcome, trusted=found is None)
        return found


class _Memory:
    def __init__(self) -> None:
        self.earlier: deque[Outcome] = deque(maxlen=REMEMBERED)
        self.trusted: deque[Outcome] = deque(maxlen=REMEMBERED)

    def keep(self, outcome: Outcome, *, trusted: bool) -> None:
        self.earlier.append(outcome)
        if trusted:
            self.trusted.append(outcome)


def _known(outcome: Outcome) -> Suspicion | None:
    """What was suspected when it was lived stays suspected, whatever has become usual since."""
    return None if outcome.unearned is None else Suspicion("when it was lived", outcome.unearned, accuses=False)


def _first(scene: Scene) -> Suspicion | None:
    told = ((rule, constraint(scene)) for rule, constraint in CONSTRAINTS.items())
    return next((Suspicion(rule, why, accuses(rule, scene.action)) for rule, why in told if why is not None), None)
