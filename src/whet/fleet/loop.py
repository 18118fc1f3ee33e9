"""One run of the fleet: the commander sends specialists until the budget is spent or enough is known."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from whet.core.agent import Agent
from whet.core.errors import WhetError
from whet.core.events import Decided, Event, Experienced, RunEnded, RunStarted, Warned
from whet.core.memories import Recalled
from whet.core.ports import PolicySource, RunRecord, Store
from whet.core.records import Action, Decision, Experience, Finding, Outcome, Reward, State, Valuation, now
from whet.fleet.gate import Gate
from whet.fleet.recalling import Recalling
from whet.fleet.resembling import Scene
from whet.fleet.teaching import Teacher
from whet.memory.masking_outcomes import masked_outcome
from whet.rewards.credit import assign
from whet.rewards.profiles import Profile
from whet.rewards.reward import reward_of, without_luck
from whet.rewards.shaping import shape
from whet.tools.budget import Budget
from whet.tools.workplace import Dispatched, Workplace

AnyAgent = Agent[Any, Any, Workplace]


@dataclass(frozen=True)
class Valuing:
    """How outcomes become rewards."""

    profile: Profile
    weights: Mapping[str, float]
    team_share: float
    discount: float

    def described(self) -> dict[str, Any]:
        """To tell later whether a reward was earned under the same rules."""
        return {"profile": self.profile.name, "weights": dict(sorted(self.weights.items()))}


class Visit(Protocol):
    """What the loop itself goes by; where agents work is theirs."""

    run_id: str
    budget: Budget
    agents_done: list[str]
    said: dict[str, str]

    @property
    def changed_files(self) -> Sequence[str]: ...

    @property
    def emit(self) -> Callable[[Event], None]: ...


@dataclass(frozen=True)
class Turn:
    """One way round the loop, before credit is shared."""

    agent: AnyAgent
    state: State
    decision: Decision
    outcome: Outcome
    valuation: Valuation
    reward: Reward
    after: State
    new_findings: tuple[Finding, ...]
    done: bool


@dataclass
class Fleet:
    commander: AnyAgent
    crew: Sequence[AnyAgent]
    store: Store
    policies: PolicySource
    teacher: Teacher
    valuing: Valuing
    gate: Gate = field(default_factory=Gate)
    memory: Recalling | None = None

    def run(self, workplace: Workplace) -> list[Experience]:
        """A whole visit. What was lived is stored turn by turn, so an interruption loses at most the turn at work."""
        self._prepare(workplace)
        lived: list[Experience] = []
        moves: dict[str, list[float]] = defaultdict(list)
        status = "interrupted"
        try:
            while not self._over(lived):
                turns = self._round(workplace)
                lived += turns
                for turn, moved in zip(turns, self.teacher.teach_together(turns, _warning(workplace)), strict=True):
                    if moved is not None:
                        moves[turn.agent].append(moved)
            status = "finished"
        finally:
            self._conclude(workplace, lived, moves, status)
        return lived

    def errand(self, agent: AnyAgent, workplace: Workplace) -> Experience:
        """A visit of one agent by itself: one turn, lived, stored and learned from."""
        self._prepare(workplace)
        lived: list[Experience] = []
        try:
            lived.append(self.once(agent, workplace, workplace))
        finally:
            self._conclude(workplace, lived, {}, "finished" if lived else "interrupted")
        return lived[0]

    def once(self, agent: AnyAgent, visit: Visit, workplace: Any) -> Experience:
        (experience,) = self._settle([self.turn(agent, visit, workplace)], visit)
        self.teacher.teach(experience, _warning(visit))
        return experience

    def plan(self, workplace: Workplace) -> list[tuple[State, Decision]]:
        """What each agent would decide right now; nothing runs and nothing is stored."""
        self._meet_obstacles(workplace)
        able = [agent for agent in (self.commander, *self.crew) if agent.name not in workplace.obstacles]
        states = [(agent, agent.observe(workplace)) for agent in able]
        return [(state, self._decide(agent, state, workplace)) for agent, state in states]

    def turn(self, agent: AnyAgent, visit: Visit, workplace: Any) -> Turn:
        """observe → recall and decide → act → value → observe again."""
        state = agent.observe(workplace)
        decision = self._decide(agent, state, visit)
        self.store.decisions.record(decision, state)
        if self.memory is not None:
            self.memory.used(decision.memories)
        visit.emit(Decided(decision))
        acted = _uncensored(self._act(agent, state, agent.action(decision.action), workplace), visit)
        outcome = self._compared(acted, visit)
        new = self._note(outcome, visit)
        after = agent.observe(workplace)
        done = agent is not self.commander or decision.action == "stop" or visit.budget.left() <= 0
        valuation = agent.value(state, agent.action(decision.action), outcome)
        reward = self._reward(agent, state, valuation, after, done)
        return Turn(agent, state, decision, outcome, valuation, reward, after, new, done)

    def _prepare(self, workplace: Workplace) -> None:
        self._meet_obstacles(workplace)
        record = RunRecord(
            id=workplace.run_id,
            project=workplace.name,
            code_version=workplace.code_version,
            budget_seconds=workplace.budget.total_seconds,
            seed=workplace.seed,
            started_at=now(),
        )
        self._warn_of_new_rules(workplace)
        self.store.runs.start(record)
        tests = len(workplace.collection.ids)
        workplace.emit(RunStarted(workplace.run_id, workplace.project.name, tests, workplace.budget.total_seconds))

    def _warn_of_new_rules(self, workplace: Workplace) -> None:
        """Values learned under other rewards are not comparable; new outcomes overrule them, but not at once."""
        before = next((run.summary.get("rewards") for run in self.store.runs.recent(1)), None)
        if before not in (None, self.valuing.described()):
            workplace.emit(
                Warned(
                    "The reward rules changed since the last visit; what was learned under the old ones fades slowly."
                )
            )

    def _meet_obstacles(self, workplace: Workplace) -> None:
        workplace.crew = tuple(agent.name for agent in self.crew)
        met = {agent.name: agent.obstacle(workplace) for agent in self.crew}
        workplace.obstacles = {name: why for name, why in met.items() if why is not None}

    def _round(self, workplace: Workplace) -> list[Experience]:
        """The commander's turn with, inside it, the turn of whom it sends; then credit for both."""
        inner: list[Turn] = []

        def dispatch(name: str) -> Dispatched:
            agent = next(a for a in self.crew if a.name == name)
            workplace.agents_done.append(name)
            try:
                turn = self.turn(agent, workplace, workplace)
            except WhetError as error:  # one agent in trouble does not end the visit
                workplace.emit(Warned(f"{name} could not finish: {error}"))
                return Dispatched(failed=str(error), new_findings=0)
            inner.append(turn)
            return Dispatched(failed=turn.outcome.failed, new_findings=len(turn.new_findings))

        workplace.dispatch = dispatch
        outer = self.turn(self.commander, workplace, workplace)
        return self._settle([*inner, outer], workplace)

    def _settle(self, turns: Sequence[Turn], visit: Visit) -> list[Experience]:
        """Share the credit among those who took part, and make the experiences."""
        shares = assign([(t.decision.id, t.agent.name, t.reward) for t in turns], self.valuing.team_share)
        experiences = [self._experience(t, self._earned(t, shares[t.decision.id]), visit) for t in turns]
        for turn, experience in zip(turns, experiences, strict=True):
            visit.emit(Experienced(experience, turn.new_findings))
        return experiences

    def _decide(self, agent: AnyAgent, state: State, visit: Visit) -> Decision:
        allowed = agent.allowed(state)
        policy = self.policies.policy_for(agent.name, visit.run_id)
        recalled = self._recall(agent, state, len(allowed), visit)
        return self.gate.decide(
            run_id=visit.run_id,
            agent=agent.name,
            state_key=state.key(),
            policy=policy.name,
            choice=policy.choose(state, allowed, recalled),
            allowed=allowed,
            default=agent.safe_default(state),
            ruling=self.store.decisions.ruling(agent.name, state.key()),
        )

    def _recall(self, agent: AnyAgent, state: State, actions: int, visit: Visit) -> Sequence[Recalled]:
        if self.memory is None:
            return ()
        return self.memory.experiences(agent.name, state, actions, _warning(visit))

    def _act(self, agent: AnyAgent, state: State, action: Action, workplace: Any) -> Outcome:
        outcome = agent.act(state, action, workplace)
        if not isinstance(outcome, agent.outcome_type):
            raise WhetError(
                f"{agent.name} answered with {type(outcome).__name__}.", "An agent returns its outcome_type."
            )
        return masked_outcome(outcome)

    def _compared(self, outcome: Outcome, visit: Visit) -> Outcome:
        """What went wrong, with what it resembles."""
        if self.memory is None or not outcome.findings:
            return outcome
        traced = self.memory.trace(outcome.findings, visit.budget, _warning(visit))
        scene = Scene(visit.said, visit.changed_files, self.memory.turned)
        return outcome.model_copy(update={"findings": self.memory.compare(traced, scene, _warning(visit))})

    def _note(self, outcome: Outcome, visit: Visit) -> tuple[Finding, ...]:
        """Keep the findings; those never seen before are news."""
        fresh = self.store.runs.note_findings(visit.run_id, outcome.findings)
        return tuple(finding for finding, new in zip(outcome.findings, fresh, strict=True) if new)

    def _earned(self, turn: Turn, shared: Reward) -> Reward:
        return without_luck(shared, self.valuing.profile, turn.valuation, self.valuing.weights)

    def _reward(self, agent: AnyAgent, state: State, valuation: Valuation, after: State, done: bool) -> Reward:
        raw = reward_of(self.valuing.profile, valuation, self.valuing.weights)
        return shape(raw, agent.potential(state), agent.potential(after), self.valuing.discount, done)

    def _experience(self, turn: Turn, reward: Reward, visit: Visit) -> Experience:
        agent, state, after = turn.agent, turn.state, turn.after
        return Experience(
            key=f"{visit.run_id}:{turn.decision.id}",
            run_id=visit.run_id,
            agent=agent.name,
            category=agent.category,
            decision=turn.decision,
            kind=agent.action(turn.decision.action).kind,
            state=state.model_dump(mode="json"),
            state_key=state.key(),
            category_key=state.situation.category_key(),
            fleet_key=state.situation.fleet_key(),
            outcome=turn.outcome.model_dump(mode="json"),
            reward=reward,
            next_state_key=after.key(),
            next_category_key=after.situation.category_key(),
            next_fleet_key=after.situation.fleet_key(),
            next_actions=tuple(a.name for a in agent.allowed(after)),
            done=turn.done,
        )

    def _over(self, lived: Sequence[Experience]) -> bool:
        return bool(lived) and lived[-1].agent == self.commander.name and lived[-1].done

    def _conclude(
        self, workplace: Workplace, lived: Sequence[Experience], moves: Mapping[str, Sequence[float]], status: str
    ) -> None:
        for agent in sorted({e.agent for e in lived}):
            self.teacher.replay(agent, workplace.seed)
        self.teacher.transfer(lived)
        self.teacher.note(workplace.run_id, lived, moves)
        if self.memory is not None:
            self.memory.conclude(_warning(workplace))
        used = workplace.budget.used()
        summary = {"turns": len(lived), "used_seconds": used, "rewards": self.valuing.described()}
        self.store.runs.finish(workplace.run_id, "finished" if status == "finished" else "interrupted", summary)
        workplace.emit(RunEnded(workplace.run_id, status))


def _warning(visit: Visit) -> Callable[[str], None]:
    return lambda told: visit.emit(Warned(told))


def _uncensored(outcome: Outcome, visit: Visit) -> Outcome:
    """What the end of the visit's budget cut short did not fail: nothing is learned from it.

    Only when it was the very first turn does the user have to know that the suite does not fit into the budget.
    """
    if outcome.failed is None or visit.budget.left() > 0:
        return outcome
    told = outcome.findings if len(visit.agents_done) <= 1 else ()
    kept = tuple(f for f in outcome.findings if f.kind != "suite-problem" or f in told)
    return outcome.model_copy(update={"failed": None, "cut_short": True, "findings": kept})
