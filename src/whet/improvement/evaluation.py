"""Does learning pay? Policies side by side on worlds, against random and every static choice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from pydantic import Field

from whet.agents.catalogue import AnyAgent, agent_named
from whet.core.ports import Policy
from whet.core.records import Action, Record, Reward, State
from whet.improvement.world import World
from whet.policies.exploration import Schedule
from whet.policies.hierarchy import Hierarchy, Place
from whet.policies.in_process import InProcessTables
from whet.policies.learner import QLearner, Rates
from whet.policies.tabular import EpsilonGreedy, TabularPolicy, Thompson
from whet.rewards.profiles import Profile
from whet.rewards.reward import reward_of, without_luck

Matrix = npt.NDArray[np.float64]
# A decision is right when the true mean reward of its action is within 5 % of the best.
TOLERANCE = 0.05
WINDOW = 50
# Accuracy "after n decisions" is the share of right ones among the last of them, exploring included.
TAIL = 100


@dataclass(frozen=True)
class Spot:
    """One state of a world: what each recorded outcome is credited with and earned, and each action's true mean of
    that."""

    state: State
    place: Place
    allowed: tuple[Action, ...]
    default: str
    credits: Mapping[str, Matrix]
    raws: Mapping[str, Matrix]
    means: Mapping[str, float]

    @property
    def best(self) -> float:
        return max(self.means.values())

    def right(self, action: str) -> bool:
        return self.means[action] >= self.best - TOLERANCE * abs(self.best)

    def playable(self, action: str) -> str:
        """A static choice where it is not allowed falls back to the safe default."""
        return action if action in self.means else self.default


class Curve(Record):
    """Share of right decisions per window: mean over seeds and the half-width of its 95 % interval."""

    decisions: tuple[int, ...]
    accuracy: tuple[float, ...]
    half_width: tuple[float | None, ...]


class Reliability(Record):
    """Decisions whose stated confidence lay in one tenth: how many, their mean confidence, the share that was right."""

    decisions: int
    confidence: float
    right: float


class Learned(Record):
    """A learning policy on one world."""

    policy: str
    accuracy: float
    accuracy_half_width: float | None
    whole_accuracy: float = Field(description="over all decisions, the first ones too")
    whole_half_width: float | None
    untrained_accuracy: float
    mean_reward: float
    regret: float
    curve: Curve
    calibration_error: float
    reliability: tuple[Reliability, ...]


class Static(Record):
    policy: str
    accuracy: float
    mean_reward: float


class WorldReport(Record):
    world: str
    agent: str
    used_for_tuning: bool
    contexts: int
    states: int
    learned: tuple[Learned, ...]
    random: Static
    safe_default: Static
    statics: tuple[Static, ...]
    best_static: Static
    best_possible_reward: float


def spots(world: World, profile: Profile, weights: Mapping[str, float]) -> list[Spot]:
    """The world's outcomes, valued by the rewards in force."""
    agent = agent_named(world.agent)
    seen: dict[tuple[str, frozenset[str]], list[int]] = {}
    states = world.states()
    for position, state in enumerate(states):
        seen.setdefault((state.key(), frozenset(world.contexts[position].outcomes)), []).append(position)
    return [_spot(world, agent, alike, states[alike[0]], profile, weights) for alike in seen.values()]


def _spot(
    world: World, agent: AnyAgent, alike: Sequence[int], state: State, profile: Profile, weights: Mapping[str, float]
) -> Spot:
    """Contexts that look the same to the agent, with the same actions allowed, are one spot: there, an action's true
    mean is over all of them."""
    rewards: dict[str, list[Reward]] = {}
    for name in world.contexts[alike[0]].outcomes:
        action = agent.action(name)
        recorded = [o for position in alike for o in world.contexts[position].outcomes[name]]
        valued = [agent.value(state, action, world.outcome(outcome)) for outcome in recorded]
        rewards[name] = [without_luck(reward_of(profile, v, weights), profile, v, weights) for v in valued]
    raws = {name: np.array([r.raw for r in found]) for name, found in rewards.items()}
    return Spot(
        state=state,
        place=Place.of(state),
        allowed=tuple(agent.action(name) for name in rewards),
        default=agent.safe_default(state).name,
        credits={name: np.array([r.credited for r in found]) for name, found in rewards.items()},
        raws=raws,
        means={name: float(np.mean(raw)) for name, raw in raws.items()},
    )


@dataclass(frozen=True)
class Course:
    """How policies are tried: how long, how often, with which learning."""

    decisions: int = 1000
    seeds: int = 5
    rates: Rates = field(default_factory=Rates)
    schedule: Callable[[], Schedule] | None = None
    policies: tuple[str, ...] = ("thompson", "epsilon-greedy")
    # Policies made elsewhere, by name: from the tables they read, the random numbers they draw, and the seed.
    makers: Mapping[str, Callable[[Hierarchy, np.random.Generator, int], Policy]] = field(default_factory=dict)


def judge(world: World, profile: Profile, weights: Mapping[str, float], course: Course) -> WorldReport:
    """All policies on one world."""
    there = spots(world, profile, weights)
    statics = tuple(_static(name, there) for name in sorted({a.name for spot in there for a in spot.allowed}))
    return WorldReport(
        world=world.name,
        agent=world.agent,
        used_for_tuning=world.used_for_tuning,
        contexts=len(world.contexts),
        states=len(there),
        learned=tuple(_learned(name, world, there, course) for name in course.policies),
        random=_random(there),
        safe_default=_safe_default(there),
        statics=statics,
        best_static=max(statics, key=lambda s: s.mean_reward),
        best_possible_reward=_possible(there),
    )


def _possible(there: Sequence[Spot]) -> float:
    return float(np.mean([spot.best for spot in there]))


def _static(action: str, there: Sequence[Spot]) -> Static:
    played = [(spot, spot.playable(action)) for spot in there]
    return Static(
        policy=f"always {action}",
        accuracy=float(np.mean([spot.right(name) for spot, name in played])),
        mean_reward=float(np.mean([spot.means[name] for spot, name in played])),
    )


def _safe_default(there: Sequence[Spot]) -> Static:
    """What runs without Whet, and while nothing is known."""
    return Static(
        policy="safe default",
        accuracy=float(np.mean([spot.right(spot.default) for spot in there])),
        mean_reward=float(np.mean([spot.means[spot.default] for spot in there])),
    )


def _random(there: Sequence[Spot]) -> Static:
    return Static(
        policy="random",
        accuracy=float(np.mean([np.mean([spot.right(a.name) for a in spot.allowed]) for spot in there])),
        mean_reward=float(np.mean([np.mean(list(spot.means.values())) for spot in there])),
    )


@dataclass(frozen=True)
class _Log:
    """One seed: per decision whether it was right, what it gave away, and the confidence stated."""

    right: Matrix
    regret: Matrix
    confidence: Matrix


def _learned(name: str, world: World, there: Sequence[Spot], course: Course) -> Learned:
    logs = [_walk(name, world, there, course, seed) for seed in range(course.seeds)]
    right = np.stack([log.right for log in logs])
    tails = right[:, -TAIL:].mean(axis=1)
    told = reliability(np.concatenate([log.confidence for log in logs]), right.ravel())
    return Learned(
        policy=name,
        accuracy=float(tails.mean()),
        accuracy_half_width=half_width(tails),
        whole_accuracy=float(right.mean()),
        whole_half_width=half_width(right.mean(axis=1)),
        untrained_accuracy=_untrained(name, world, there, course),
        # By regret, so that the luck of which states came up does not count.
        mean_reward=_possible(there) - float(np.stack([log.regret[-TAIL:] for log in logs]).mean()),
        regret=float(np.stack([log.regret for log in logs]).sum(axis=1).mean()),
        curve=_curve(right),
        calibration_error=expected_error(told),
        reliability=told,
    )


def _walk(name: str, world: World, there: Sequence[Spot], course: Course, seed: int) -> _Log:
    """One life: decide, draw a recorded outcome, learn; `course.decisions` times."""
    rng = np.random.default_rng([seed, *world.name.encode()])
    tables = InProcessTables()
    hierarchy = Hierarchy(world.agent, agent_named(world.agent).category, tables)
    policy, schedule = _policy(name, hierarchy, course, rng, seed)
    learner = QLearner(hierarchy, rates=course.rates)
    rows = np.empty((course.decisions, 3))
    for turn in range(course.decisions):
        spot = there[int(rng.integers(len(there)))]
        choice = policy.choose(spot.state, spot.allowed)
        reward = float(rng.choice(spot.credits[choice.action]))
        kind = next(a.kind for a in spot.allowed if a.name == choice.action)
        rate, average = course.rates.learning, course.rates.average_first
        tables.learn(learner.lesson_at(spot.place, choice.action, kind, reward, rate, averaged=average))
        if schedule is not None:
            schedule.observe(reward)
        sure = next(a.confidence for a in choice.alternatives if a.action == choice.action)
        rows[turn] = spot.right(choice.action), spot.best - spot.means[choice.action], sure
    return _Log(*rows.T)


def _policy(
    name: str, hierarchy: Hierarchy, course: Course, rng: np.random.Generator, seed: int
) -> tuple[Policy, Schedule | None]:
    if name in course.makers:
        return course.makers[name](hierarchy, rng, seed), None
    if name == "thompson" or course.schedule is None:
        return TabularPolicy(hierarchy, Thompson(), course.rates.learning, rng), None
    schedule = course.schedule()
    return TabularPolicy(hierarchy, EpsilonGreedy(schedule), course.rates.learning, rng), schedule


def _untrained(name: str, world: World, there: Sequence[Spot], course: Course) -> float:
    """The same policy with empty tables that never fill: the chance that its decision is right."""
    rng = np.random.default_rng(0)
    hierarchy = Hierarchy(world.agent, agent_named(world.agent).category, InProcessTables())
    shares = []
    for seed in range(course.seeds if name in course.makers else 1):
        policy, _ = _policy(name, hierarchy, course, rng, seed)
        for spot in there:
            alternatives = policy.choose(spot.state, spot.allowed).alternatives
            shares.append(sum(a.probability for a in alternatives if spot.right(a.action)))
    return float(np.mean(shares))


def _curve(right: Matrix) -> Curve:
    windows = right.shape[1] // WINDOW
    per_seed = right[:, : windows * WINDOW].reshape(right.shape[0], windows, WINDOW).mean(axis=2)
    return Curve(
        decisions=tuple((w + 1) * WINDOW for w in range(windows)),
        accuracy=tuple(float(x) for x in per_seed.mean(axis=0)),
        half_width=tuple(half_width(per_seed[:, w]) for w in range(windows)),
    )


def half_width(values: Matrix) -> float | None:
    """Of the 95 % interval of the mean, by Student's t; one value alone has none."""
    count = len(values)
    if count < 2:
        return None
    return float(student_95(count - 1) * values.std(ddof=1) / np.sqrt(count))


def student_95(degrees: int) -> float:
    """The 97.5 % quantile of Student's t; beyond the table by its expansion in 1/degrees (error < 0.002)."""
    small = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
    return small[degrees - 1] if degrees <= len(small) else 1.96 + 2.372 / degrees + 2.82 / degrees**2


def calibration_error(confidence: Matrix, right: Matrix, bins: int = 10) -> float:
    """Expected calibration error: mean gap between stated confidence and share of right decisions, by bin."""
    return expected_error(reliability(confidence, right, bins))


def reliability(confidence: Matrix, right: Matrix, bins: int = 10) -> tuple[Reliability, ...]:
    """By bin of stated confidence; an empty one has nothing to say, and is left out."""
    edges = np.clip((confidence * bins).astype(int), 0, bins - 1)
    there = [edges == each for each in range(bins)]
    return tuple(
        Reliability(decisions=int(at.sum()), confidence=float(confidence[at].mean()), right=float(right[at].mean()))
        for at in there
        if at.any()
    )


def expected_error(told: Sequence[Reliability]) -> float:
    total = sum(each.decisions for each in told)
    return sum(each.decisions * abs(each.confidence - each.right) for each in told) / total


def pooled(several: Sequence[Sequence[Reliability]], bins: int = 10) -> tuple[Reliability, ...]:
    """What several worlds say together: a policy that is too sure here and too modest there is well calibrated."""
    found: dict[int, list[Reliability]] = {}
    for each in (each for told in several for each in told):
        found.setdefault(min(int(each.confidence * bins), bins - 1), []).append(each)
    return tuple(_merged(found[place]) for place in sorted(found))


def _merged(alike: Sequence[Reliability]) -> Reliability:
    counts = np.array([each.decisions for each in alike])
    return Reliability(
        decisions=int(counts.sum()),
        confidence=float(np.average([each.confidence for each in alike], weights=counts)),
        right=float(np.average([each.right for each in alike], weights=counts)),
    )
