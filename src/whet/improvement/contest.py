"""Which policy is worth using where: the same held-out worlds, the same seeds, and deep policies trained on others.

Every policy lives in a world: it decides, sees one recorded outcome, and its tables learn from that. The deep ones
begin with what they learned on the worlds used for tuning; the tables begin empty.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from pydantic import Field

from whet.agents.catalogue import agent_named
from whet.core.errors import WhetError
from whet.core.ports import Policy
from whet.core.records import Record
from whet.improvement.evaluation import judge
from whet.improvement.evaluation_records import Curve, WorldReport
from whet.improvement.intervals import half_width
from whet.improvement.lives import Course
from whet.improvement.reliability import Reliability, chance_error, expected_error, pooled
from whet.improvement.training import train
from whet.improvement.training_learners import Policy as Deep
from whet.improvement.training_record import Order, TrainingFolder
from whet.improvement.training_scenes import of_worlds
from whet.improvement.training_subject import subject_of
from whet.improvement.world import World
from whet.policies.deep.deciding import DeepPolicy
from whet.policies.deep.encoding import Encoder
from whet.policies.deep.opinions import Opinion, opened
from whet.policies.hierarchy import Hierarchy
from whet.rewards.profiles import Profile

DEEP: tuple[Deep, ...] = ("dqn", "ppo")
Maker = Callable[[Hierarchy, np.random.Generator, int], Policy]


class Share(Record):
    """Of right decisions, or a difference of two: the mean over worlds, and half of its 95 % interval."""

    share: float
    half_width: float | None

    @property
    def shown(self) -> bool:
        """Whether it is more than chance does; one world alone shows nothing."""
        return self.half_width is not None and abs(self.share) > self.half_width


class Standing(Record):
    """How a policy did on all worlds together."""

    policy: str
    whole: Share = Field(description="of all decisions")
    at_first: Share = Field(description="before the project has shown anything")
    at_last: Share = Field(description="of the last 100 decisions")
    calibration_error: float = Field(description="of all worlds together")
    chance_error: float = Field(description="of a perfectly calibrated policy that decided as often on the same states")
    decisions: int
    reliability: tuple[Reliability, ...]
    curve: Curve


@dataclass(frozen=True)
class Rules:
    profile: Profile
    weights: Mapping[str, float]
    course: Course
    training_steps: int
    folder: Path


def trained(worlds: Sequence[World], rules: Rules) -> dict[str, Maker]:
    """Deep policies for the agent of these worlds, one of each kind for every seed."""
    scenes = of_worlds(worlds, rules.profile, rules.weights)
    encoder = Encoder(agent_named(scenes.agent).state_type)

    def opinion(kind: Deep, seed: int) -> Opinion:
        order = Order(
            agent=scenes.agent, policy=kind, seed=seed, steps=rules.training_steps, source="world",
            sources=scenes.sources, digest=scenes.digest, checkpoint_steps=rules.training_steps,
        )  # fmt: skip
        folder = TrainingFolder(rules.folder / scenes.agent / kind / str(seed))
        for _ in train(subject_of(scenes, order), order, folder):
            pass
        return opened(kind, folder.learner, encoder.layout)

    opinions = {kind: [opinion(kind, seed) for seed in range(rules.course.seeds)] for kind in DEEP}

    return makers_of(opinions, encoder, rules.course)


def makers_of(opinions: Mapping[Deep, Sequence[Opinion]], encoder: Encoder, course: Course) -> dict[str, Maker]:
    def maker(kind: Deep) -> Maker:
        return lambda hierarchy, rng, seed: DeepPolicy(
            opinions[kind][seed], encoder, hierarchy, course.rates.learning, rng, course.calibration
        )

    return {kind: maker(kind) for kind in DEEP}


def contest(training: Sequence[World], judged: Sequence[World], rules: Rules) -> Iterator[WorldReport]:
    """World by world, those of one agent after those of another."""
    if same := {world.name for world in training} & {world.name for world in judged}:
        raise WhetError(
            f"{', '.join(sorted(same))} would be judged by who was trained on it.", "Judge on other worlds."
        )
    for agent in sorted({world.agent for world in judged}):
        own = [world for world in training if world.agent == agent]
        makers = trained(own, rules) if own else {}
        course = replace(rules.course, policies=("thompson", "epsilon-greedy", *makers), makers=makers)
        for world in judged:
            if world.agent == agent:
                yield judge(world, rules.profile, rules.weights, course)


def standing(policy: str, reports: Sequence[WorldReport]) -> Standing:
    """Over the worlds that it lived in."""
    lived = [each for report in reports for each in report.learned if each.policy == policy]
    curves = np.array([each.curve.accuracy for each in lived])
    told = pooled([each.reliability for each in lived])
    return Standing(
        policy=policy,
        whole=_share([each.whole_accuracy for each in lived]),
        at_first=_share([each.untrained_accuracy for each in lived]),
        at_last=_share([each.accuracy for each in lived]),
        calibration_error=expected_error(told),
        chance_error=chance_error(told),
        decisions=sum(each.decisions for each in told),
        reliability=told,
        curve=Curve(
            decisions=lived[0].curve.decisions,
            accuracy=tuple(float(share) for share in curves.mean(axis=0)),
            half_width=tuple(half_width(window) for window in curves.T),
        ),
    )


def against(default: str, policy: str, reports: Sequence[WorldReport]) -> Share:
    """How much larger a policy's share of right decisions is; world by world, so that hard worlds do not hide it."""
    lives = [{each.policy: each.whole_accuracy for each in report.learned} for report in reports]
    return _share([life[policy] - life[default] for life in lives if policy in life])


def _share(values: Sequence[float]) -> Share:
    return Share(share=float(np.mean(values)), half_width=half_width(np.array(values)))
