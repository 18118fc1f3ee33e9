"""Has the world changed, and what follows: a fold over the newest experiences, the same for everybody who looks."""

from functools import partial
from typing import NamedTuple

from whet.agents.catalogue import AGENTS
from whet.bootstrap.candidates import Doubt
from whet.core.ports import Store
from whet.improvement.drift import DriftWatch
from whet.improvement.drift_record import Drift
from whet.improvement.intake.form import malformed
from whet.improvement.reopening import CLOSED, Reopened

# A year of a project that is visited several times a day; reading them takes less than a second.
LOOKED_AT = 2000


class Changes(NamedTuple):
    drifts: tuple[Drift, ...]  # oldest first
    reopened: dict[str, Doubt]  # by agent, whose exploration is open again

    def rewards_since(self, agent: str) -> Drift | None:
        """The last time the same actions began to earn something else: what was lived before teaches the wrong
        thing."""
        moved = [each for each in self.drifts if each.agent == agent and each.kind == "rewards"]
        return moved[-1] if moved else None


def changes(store: Store, agents: tuple[str, ...] = tuple(AGENTS)) -> Changes:
    watch, found = DriftWatch(AGENTS), []
    for agent in agents:
        for experience in reversed(store.experiences.recent(agent, LOOKED_AT)):
            if malformed(experience, AGENTS) is None:  # an earlier version's states are no news
                found += watch.observe(experience)
    opened = {agent: by for agent in agents if (by := watch.reopening(agent)) != CLOSED}
    return Changes(tuple(found), {agent: partial(Reopened, by=by) for agent, by in opened.items()})
