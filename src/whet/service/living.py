"""What came of a decision that was made for a program: its reward by the project's rules, and a lesson, once."""

from typing import NamedTuple

from whet.agents.catalogue import AGENTS, AnyAgent
from whet.bootstrap.assembly import schooling, valuing
from whet.bootstrap.site import Site
from whet.core.records import Decision, Experience, Outcome, Reward, State
from whet.core.views import Decided
from whet.fleet.teaching import Teacher
from whet.memory.masking_outcomes import masked_outcome
from whet.rewards.reward import reward_of, without_luck
from whet.rewards.shaping import shape
from whet.service.problems import Refused
from whet.store.sql_store import SqlStore


class Lived(NamedTuple):
    """`learned` is False when this decision's outcome was known already; the reward is then that of the first time."""

    key: str
    reward: Reward
    learned: bool


class Told(NamedTuple):
    """What a program says came of a decision. `after` is what it saw then; None: nothing follows."""

    decision: str
    outcome: Outcome
    after: State | None

    @property
    def done(self) -> bool:
        return self.after is None


class Living:
    def __init__(self, site: Site, store: SqlStore) -> None:
        self._site, self._store = site, store
        self._teacher = Teacher(store, AGENTS, schooling(site.settings))

    def live(self, agent: AnyAgent, told: Told) -> Lived:
        """The key of an experience follows from its decision, so that telling an outcome again changes nothing."""
        told = told._replace(outcome=masked_outcome(told.outcome))
        decided = self._decided(agent, told.decision)
        if decided.experience is None:
            experience = self._experience(agent, decided, told)
            self._store.runs.note_findings(decided.decision.run_id, told.outcome.findings)
            if self._teacher.keep(experience).new:
                return Lived(experience.key, experience.reward, learned=True)
        known = self._store.experiences.of_decision(told.decision)
        if known is None:
            raise Refused(409, f"{told.decision!r} was told of by another run.", "Tell of a decision of your own.")
        return Lived(known.key, known.reward, learned=False)

    def _decided(self, agent: AnyAgent, decision_id: str) -> Decided:
        decided = self._store.views.decision(decision_id)
        if decided is None:
            raise Refused(404, f"There is no decision {decision_id!r}.", "Make it: POST /predict with keep = true")
        if decided.decision.agent != agent.name:
            raise Refused(409, f"That decision is {decided.decision.agent}'s.", "Name the agent that decided.")
        return decided

    def _experience(self, agent: AnyAgent, decided: Decided, told: Told) -> Experience:
        state = agent.state_type.model_validate(decided.state)
        reward = self._reward(agent, state, decided.decision, told)
        return _experience(agent, decided.decision, state, told, reward)

    def _reward(self, agent: AnyAgent, state: State, decision: Decision, told: Told) -> Reward:
        """As in a visit; whoever works alone has no team to share with."""
        rules = valuing(self._site.settings)
        valuation = agent.value(state, agent.action(decision.action), told.outcome)
        after = 0.0 if told.after is None else agent.potential(told.after)
        raw = reward_of(rules.profile, valuation, rules.weights)
        shaped = shape(raw, agent.potential(state), after, rules.discount, told.done)
        return without_luck(shaped, rules.profile, valuation, rules.weights)


def _experience(agent: AnyAgent, decision: Decision, state: State, told: Told, reward: Reward) -> Experience:
    after = told.after
    return Experience(
        key=f"{decision.run_id}:{decision.id}",
        run_id=decision.run_id,
        agent=agent.name,
        category=agent.category,
        decision=decision,
        kind=agent.action(decision.action).kind,
        state=state.model_dump(mode="json"),
        state_key=state.key(),
        category_key=state.situation.category_key(),
        fleet_key=state.situation.fleet_key(),
        outcome=told.outcome.model_dump(mode="json"),
        reward=reward,
        next_state_key=None if after is None else after.key(),
        next_category_key=None if after is None else after.situation.category_key(),
        next_fleet_key=None if after is None else after.situation.fleet_key(),
        next_actions=() if after is None else tuple(action.name for action in agent.allowed(after)),
        done=told.done,
    )
