"""Continuous learning, put together from settings: what `whet learn` runs."""

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import NamedTuple

from sqlalchemy import make_url

from whet.agents.catalogue import AGENTS
from whet.bootstrap.assembly import valuing
from whet.bootstrap.candidates import opener, registry
from whet.bootstrap.drifting import changes
from whet.bootstrap.lineage import code_digest, keys_digest
from whet.bootstrap.proving import examiner, held_out
from whet.bootstrap.site import Site
from whet.core.candidates import Candidate, Lineage, NewCandidate
from whet.core.errors import MissingTool, RefusedInput, WhetError
from whet.core.learning_log import Batch
from whet.core.ports import Store
from whet.core.queues import TrainingQueue
from whet.core.records import Experience
from whet.core.registries import Facts, Registry
from whet.improvement.candidate_training import CandidateOrder, train
from whet.improvement.intake.filtering import Filter
from whet.improvement.intake.retention import Retention
from whet.improvement.intake.trigger import Rule
from whet.improvement.pipeline import Pipeline, key_of
from whet.improvement.rollout.plan import Plan
from whet.reports.training_curves import render_curve
from whet.settings.model import Settings

FOLDER = "learn"
# A group of Kafka consumers takes some seconds to agree who reads what.
ELSEWHERE_SECONDS = 5.0
# Of earlier batches, replayed with a new one.
REPLAYED = 20_000


@contextmanager
def pipeline(site: Site, store: Store, rule: Rule | None = None) -> Iterator[Pipeline]:
    """While it is open, whatever queue and registry the settings name are connected."""
    settings = site.settings
    with closing(registry(site)) as kept, queue(site, store) as waiting:
        judging = judge(settings, store)
        yield Pipeline(
            store=store,
            queue=waiting,
            registry=kept,
            judge=judging,
            held_out=held_out(settings),
            rule=rule or Rule(settings.learn.min_experiences, settings.learn.min_hours),
            workshop=Trainer(site, store, kept),
            examine=examiner(site, store, opener(site, kept)),
            plan=plan(settings),
            moved=lambda agent: changes(store, (agent,)).rewards_since(agent),
            retention=retention(settings),
            replay_capacity=settings.learn.replay_capacity,
            consumer=f"whet-learn-{os.getpid()}",
            wait_seconds=0.0 if waiting is store.queue else ELSEWHERE_SECONDS,
        )


def plan(settings: Settings) -> Plan:
    asked = settings.production
    return Plan(
        unattended=asked.ab_testing,
        shares=(asked.first_share, asked.traffic_split),
        fewest_units=asked.min_samples,
        fewest_decisions=asked.min_decisions,
        most_units=asked.most_samples,
        fewest_hours=asked.step_hours,
        confidence=asked.confidence_level,
        floor=asked.rollback_performance,
        success_drop=asked.rollback_threshold,
        reward_drop=asked.rollback_reward,
        probation_hours=asked.probation_hours,
    )


def retention(settings: Settings) -> Retention:
    return Retention(settings.learn.stream_days, settings.learn.stream_capacity)


def judge(settings: Settings, store: Store) -> Filter:
    """It knows what was usual before, so that what is unusual now can be told."""
    how, learn = valuing(settings), settings.learn
    judging = Filter(AGENTS, how.profile, how.weights, retention(settings))
    unread = {seen.experience.key for seen in store.learning.unread(learn.stream_capacity)}
    earlier = reversed(store.experiences.recent(limit=1000 + len(unread)))
    judging.remember(each for each in earlier if each.key not in unread)
    return judging


@contextmanager
def queue(site: Site, store: Store) -> Iterator[TrainingQueue]:
    address = site.settings.learn.queue
    if address == "store":
        yield store.queue
        return
    with closing(_elsewhere(address, _queue_name(site))) as made:
        yield made


def _elsewhere(address: str, name: str) -> TrainingQueue:
    """Brokers that do not answer keep nobody from watching the candidates in use; a wrong line of settings does."""
    from whet.queues.opening import opened
    from whet.queues.unreachable import Unreachable

    try:
        return opened(address, name)
    except (RefusedInput, MissingTool):
        raise
    except WhetError as error:
        return Unreachable(error)


def _queue_name(site: Site) -> str:
    """One queue for each store: what is taken from it goes into the training set there."""
    kept_in = make_url(site.database_url).render_as_string(hide_password=True)
    return f"{site.name}-{hashlib.sha256(kept_in.encode()).hexdigest()[:8]}"


class Lessons(NamedTuple):
    """What a candidate is trained with, and whom it goes on from."""

    batch: Sequence[Experience]
    before: Sequence[Experience]
    parent: Candidate | None


@dataclass(frozen=True)
class Trainer:
    """Trains a batch in the project's folder and keeps the policy in the registry."""

    site: Site
    store: Store
    kept: Registry
    code: str = field(default_factory=code_digest)

    def train(self, batch: Batch, parent: Candidate | None) -> NewCandidate:
        folder = self.site.state_dir / FOLDER / f"batch-{batch.number}"
        order, lessons = self.order(batch), self.lessons(batch, parent)
        files = None if lessons.parent is None else self.kept.open(lessons.parent.artefact).folder
        told = train(order, lessons.batch, lessons.before, files, folder / "policy")
        parent = lessons.parent
        lineage = Lineage(
            batch=batch.number,
            experiences=batch.size,
            first=batch.first,
            last=batch.last,
            parent=None if parent is None else parent.number,
            code_version=version("whet"),
            seed=order.seed,
            keys_digest=keys_digest(each.key for each in lessons.batch),
            code_digest=self.code,
        )
        facts = Facts(
            agent=batch.agent,
            kind=order.kind,
            config=order.model_dump(mode="json"),
            metrics=dict(told.metrics),
            lineage=lineage.model_dump(mode="json"),
            pictures={"curve.svg": render_curve(f"{batch.agent}, batch {batch.number}", told.rows).encode()},
        )
        artefact = self.kept.keep(folder / "policy", facts)
        shutil.rmtree(folder)
        return NewCandidate(key=key_of(batch), agent=batch.agent, kind=order.kind, artefact=artefact, lineage=lineage)

    def lessons(self, batch: Batch, parent: Candidate | None) -> Lessons:
        """What was lived before the same actions began to earn something else teaches the wrong thing."""
        lived = self.store.learning.members(batch.number)
        before = self.store.learning.trained_before(batch.agent, batch.number, REPLAYED)
        moved = changes(self.store, (batch.agent,)).rewards_since(batch.agent)
        since = [] if moved is None else [each for each in lived if each.at > moved.at]
        if moved is None or not since:
            return Lessons(lived, before, parent)
        knows = parent if parent is not None and parent.made_at > moved.at else None
        return Lessons(since, [each for each in before if each.at > moved.at], knows)

    def order(self, batch: Batch) -> CandidateOrder:
        settings = self.site.settings
        return CandidateOrder(
            agent=batch.agent,
            kind=settings.learn.policy,
            seed=(settings.seed or 0) + batch.number,
            rate=settings.q_learning.learning_rate,
            discount=settings.q_learning.discount_factor,
            steps=settings.training.steps,
            checkpoint_steps=settings.training.save_every,
            importance=settings.learn.importance,
        )
