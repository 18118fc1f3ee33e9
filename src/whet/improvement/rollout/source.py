"""Which policy decides now: the canary for the units assigned to it, else production, else what settings choose."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from threading import RLock

from whet.core.candidates import Candidate, Candidates, Stage
from whet.core.errors import WhetError
from whet.core.memories import Recalled
from whet.core.ports import Choice, Policy, PolicySource
from whet.core.records import Action, State
from whet.improvement.proving.masking import within_mask
from whet.improvement.rollout.assignment import assigned, policy_name

# Of units that a long-lived process still knows the policies of; the oldest are asked for anew.
_REMEMBERED = 4096


class CandidatePolicy:
    """A candidate's policy under the name by which its decisions are told apart."""

    def __init__(self, candidate: Candidate, policy: Policy) -> None:
        self.name = policy_name(candidate.number)
        self._policy = policy

    def choose(self, state: State, allowed: Sequence[Action], recalled: Sequence[Recalled] = ()) -> Choice:
        return within_mask(self._policy.choose(state, allowed, recalled), allowed)


@dataclass
class RolledOut:
    """A `PolicySource`. The store is asked once per agent and unit: within a run nobody's policy changes.

    `open` makes the policy of a candidate, and refuses (WhetError) what is missing or not as it was signed: then the
    next in line decides, and `warn` is told why. Agents in `explicit` have a line in settings, which people keep.
    """

    base: PolicySource
    candidates: Candidates
    open: Callable[[Candidate], Policy]
    warn: Callable[[str], None]
    explicit: Collection[str] = ()
    _decided: dict[tuple[str, str], Policy] = field(default_factory=dict, init=False)
    _opened: dict[int, Policy] = field(default_factory=dict, init=False)
    _lock: RLock = field(default_factory=RLock, init=False, repr=False)

    def policy_for(self, agent: str, unit: str) -> Policy:
        if agent in self.explicit:
            return self.base.policy_for(agent, unit)
        with self._lock:
            if (agent, unit) not in self._decided:
                self._decided[agent, unit] = self._decide(agent, unit)
                if len(self._decided) > _REMEMBERED:
                    del self._decided[next(iter(self._decided))]
            return self._decided[agent, unit]

    def _decide(self, agent: str, unit: str) -> Policy:
        for candidate in self._in_line(agent, unit):
            try:
                return self._open(candidate)
            except (WhetError, OSError) as error:
                self.warn(f"Candidate {candidate.number} does not decide for {agent}, though it should: {error}")
        return self.base.policy_for(agent, unit)

    def _in_line(self, agent: str, unit: str) -> Iterator[Candidate]:
        canary = self.candidates.at_stage(agent, Stage.CANARY)
        yield from (candidate for candidate in canary if assigned(candidate, unit))
        yield from self.candidates.at_stage(agent, Stage.PRODUCTION)

    def _open(self, candidate: Candidate) -> Policy:
        """Kept, so that random numbers go on where they stopped."""
        if candidate.number not in self._opened:
            self._opened[candidate.number] = CandidatePolicy(candidate, self.open(candidate))
        return self._opened[candidate.number]
