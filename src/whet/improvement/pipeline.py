"""One tick of continuous learning: collect → take → train → prove → roll out.

Where everything stands is in the store, and every phase starts from there. What is done again after a crash has the
same effect: verdicts and training examples are kept by key, a batch trains to the same bytes, a candidate is added by
what made it, and moves only from where it was seen to stand.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from pydantic import ValidationError

from whet.core.candidates import SINGULAR, Candidate, NewCandidate, Stage
from whet.core.errors import WhetError
from whet.core.learning_log import Batch, Judged, Quality, Seen, Unreadable
from whet.core.ports import Store
from whet.core.queues import Delivery, Message, TrainingQueue
from whet.core.records import Experience
from whet.core.registries import ALIASES, Alias, Registry
from whet.core.text import number_of
from whet.improvement.drift_record import Drift
from whet.improvement.intake.retention import Retention
from whet.improvement.intake.trigger import Rule, due
from whet.improvement.rollout import steps
from whet.improvement.rollout.plan import Plan
from whet.improvement.rollout.stepping import roll_out

_AT_ONCE = 500
# Of an agent's candidates for which there is not enough evidence yet; it comes with time, and new ones come, too.
_MOST_WAITING = 3
_ENDED = (Stage.REJECTED, Stage.ROLLED_BACK)
_ALIASED = {"production": (Stage.PRODUCTION,), "canary": (Stage.CANARY,), "candidate": (Stage.TRAINED, Stage.PROVEN)}


class Phase(StrEnum):
    COLLECT = "collect"
    TAKE = "take"
    TRAIN = "train"
    PROVE = "prove"
    ROLL_OUT = "roll out"


class Told(NamedTuple):
    """What a phase did, or is waiting for. Whatever was told is safe in the store."""

    phase: Phase
    sentence: str
    candidate: int | None = None


class Examination(NamedTuple):
    """`passed` None: inconclusive. `evidence` by name: what each gate measured, and on what."""

    passed: bool | None
    why: str
    evidence: Mapping[str, Any]


class Judge(Protocol):
    def judge(self, experience: Experience, now: datetime, newer: int) -> Judged:
        """`newer` is how many experiences came after it and wait to be judged as well."""


class Workshop(Protocol):
    def train(self, batch: Batch, parent: Candidate | None) -> NewCandidate:
        """The batch as a policy in the registry. The same batch again gives the same."""


@dataclass(frozen=True)
class Pipeline:
    store: Store
    queue: TrainingQueue
    registry: Registry
    judge: Judge
    held_out: Callable[[str], bool]  # by run id: kept for proof, never trained on
    rule: Rule
    workshop: Workshop
    examine: Callable[[Candidate, datetime], Examination]
    plan: Plan
    moved: Callable[[str], Drift | None]  # by agent: the last time that the same actions began to earn something else
    retention: Retention = field(default_factory=Retention)
    replay_capacity: int = 1_000_000
    consumer: str = "whet-learn"
    wait_seconds: float = 0.0  # for what a queue elsewhere still has under way

    def tick(self, now: datetime) -> Iterator[Told]:
        """Everything that is due at `now`. Yields after each durable step; whoever stops there can start again.

        A queue or a registry out of reach, or a defect of ours, holds up what needs it and is told at the end, as an
        error: candidates that decide are watched all the same.
        """
        trouble: list[Exception] = []
        phases = (self._collect, self._take, self._train, self._prove, self._outdated, self._roll_out, self._name_all)
        for phase in phases:
            try:
                yield from phase(now)
            except Exception as error:
                trouble.append(error)
        _raise(trouble)

    def _collect(self, now: datetime) -> Iterator[Told]:
        while seen := self.store.learning.unread(_AT_ONCE):
            last = self.store.learning.backlog() - 1  # counted now: others go on adding and reading
            judged = [self._judged(each.experience, now, last - place) for place, each in enumerate(seen)]
            self.queue.put([_message(each) for each in self._wanted(seen, judged)])
            self.store.learning.judge(judged, seen[-1].position)
            good = sum(each.quality is Quality.GOOD for each in judged)
            yield Told(
                Phase.COLLECT, f"{number_of(len(seen), 'experience')} read: {good:,} good, {len(seen) - good:,} refused"
            )

    def _judged(self, found: Experience | Unreadable, now: datetime, newer: int) -> Judged:
        if isinstance(found, Unreadable):
            return Judged(found.key, found.agent, Quality.MALFORMED, found.why)
        return self.judge.judge(found, now, newer)

    def _wanted(self, seen: Sequence[Seen], judged: Sequence[Judged]) -> list[Experience]:
        good = {each.key for each in judged if each.quality is Quality.GOOD}
        lived = [each.experience for each in seen if isinstance(each.experience, Experience)]
        return [each for each in lived if each.key in good and not self.held_out(each.run_id)]

    def _take(self, now: datetime) -> Iterator[Told]:
        while deliveries := self.queue.take(self.consumer, _AT_ONCE, self.wait_seconds):
            lived = [each for each in map(_experience, deliveries) if each is not None]
            fresh = [each for each in lived if not self.retention.expired(each.at, now)]
            new = self.store.learning.collect(fresh, now)
            told = f"{number_of(new, 'experience')} {'is' if new == 1 else 'are'} new in the training set"
            if len(lived) < len(deliveries):
                told += f"; {len(deliveries) - len(lived):,} messages of the queue are no experiences and were left out"
            if len(fresh) < len(lived):
                told += f"; {len(lived) - len(fresh):,} came too late and are stale"
            yield Told(Phase.TAKE, told)
            self.queue.done(deliveries)

    def _train(self, now: datetime) -> Iterator[Told]:
        for agent in self.store.learning.agents_waiting():
            waiting, oldest = self.store.learning.waiting(agent)
            last = next(iter(self.store.learning.batches(agent)), None)
            ready = due(waiting, oldest, None if last is None else last.closed_at, now, self.rule)
            if ready.due:
                self.store.learning.close_batch(agent, now, self.rule.fewest)
            yield Told(Phase.TRAIN, f"{agent}: {'training is due' if ready.due else 'waiting'}: {ready.sentence}")
        trouble = yield from self._train_batches(now)
        self.store.learning.trim(self.replay_capacity)
        self.store.learning.forget(self.retention.forgotten_before(now), self.retention.verdicts)
        _raise(trouble)

    def _train_batches(self, now: datetime) -> Generator[Told, None, list[Exception]]:
        """Those that are not trained yet; one in trouble does not stop the others."""
        trained, trouble = {candidate.key for candidate in self.store.candidates.all()}, list[Exception]()
        for batch in reversed(self.store.learning.batches()):
            try:
                if key_of(batch) not in trained:
                    yield from self._train_batch(batch, now)
            except Exception as error:
                yield Told(Phase.TRAIN, f"{batch.agent}: batch {batch.number} could not be trained: {_said(error)}")
                trouble.append(error)
        return trouble

    def _train_batch(self, batch: Batch, now: datetime) -> Iterator[Told]:
        made = self.workshop.train(batch, self._parent(batch.agent))
        yield Told(Phase.TRAIN, f"{batch.agent}: batch {batch.number} is trained")
        candidate = self.store.candidates.add(made, now)
        for earlier in self.store.candidates.at_stage(batch.agent, Stage.TRAINED)[_MOST_WAITING:]:
            yield from self._passed_over(earlier, f"{_MOST_WAITING} candidates that know more wait for evidence", now)
        told = f"candidate {candidate.number} of {batch.agent}: trained with {number_of(batch.size, 'experience')}"
        yield Told(Phase.TRAIN, told, candidate.number)

    def _passed_over(self, candidate: Candidate, why: str, now: datetime) -> Iterator[Told]:
        """Unless a person paused it meanwhile."""
        if self._move(candidate, Stage.REJECTED, why, now) is not None:
            told = f"candidate {candidate.number} of {candidate.agent} is passed over: {why}"
            yield Told(Phase.PROVE, told, candidate.number)

    def _parent(self, agent: str) -> Candidate | None:
        """Who knows most of those that nobody found fault with."""
        return next((each for each in self.store.candidates.all(agent) if each.stage not in _ENDED), None)

    def _prove(self, now: datetime) -> Iterator[Told]:
        """Those that wait for it; one in trouble does not stop the others."""
        waiting = [each for each in self.store.candidates.all() if each.stage is Stage.TRAINED and not each.paused]
        trouble = list[Exception]()
        for candidate in reversed(waiting):
            try:
                yield from self._prove_one(candidate, now)
            except Exception as error:
                told = f"candidate {candidate.number} of {candidate.agent} could not be examined: {_said(error)}"
                yield Told(Phase.PROVE, told, candidate.number)
                trouble.append(error)
        _raise(trouble)

    def _prove_one(self, candidate: Candidate, now: datetime) -> Iterator[Told]:
        later = self._later_one_in_use(candidate)
        if later is not None:
            yield from self._passed_over(candidate, f"candidate {later}, which knows more, is in use", now)
            return
        found = self.examine(candidate, now)
        if found.passed is None:
            news = None if found.why == candidate.why else found.why
            self.store.candidates.note(candidate.number, found.evidence, news)
        else:
            self._move(candidate, Stage.PROVEN if found.passed else Stage.REJECTED, found.why, now, found.evidence)
        yield Told(Phase.PROVE, f"candidate {candidate.number} of {candidate.agent}: {found.why}", candidate.number)

    def _later_one_in_use(self, candidate: Candidate) -> int | None:
        """What it would be compared with is no longer what it was made to replace."""
        deciding = (each for stage in SINGULAR for each in self.store.candidates.at_stage(candidate.agent, stage))
        return next((each.number for each in deciding if each.number > candidate.number), None)

    def _roll_out(self, now: datetime) -> Iterator[Told]:
        for look in roll_out(self.store, self.plan, now):
            yield Told(Phase.ROLL_OUT, look.sentence, look.number)

    def _outdated(self, now: datetime) -> Iterator[Told]:
        """A proof is of the world it was made in: when rewards fall, who still learns decides again."""
        for candidate in [each for each in self.store.candidates.all() if each.stage is Stage.PRODUCTION]:
            drift = self.moved(candidate.agent)
            if drift is not None and drift.size < 0 and drift.at > candidate.made_at:
                why = f"candidate {candidate.number} goes back, its proof was of another world: {drift.sentence}"
                self.store.candidates.move(steps.back(candidate, None, steps.Told(why)), now)
                yield Told(Phase.ROLL_OUT, why, candidate.number)

    def _name_all(self, _now: datetime) -> Iterator[Told]:
        """The registry's aliases show what the store says: nothing that has to be told."""
        for agent in sorted({candidate.agent for candidate in self.store.candidates.all()}):
            self._name(agent)
        yield from ()

    def _name(self, agent: str) -> None:
        candidates, named = self.store.candidates.all(agent), self.registry.named(agent)
        for alias in ALIASES:
            meant = _meant(alias, candidates)
            if named.get(alias) != meant:
                self.registry.name(agent, alias, meant)

    def _move(
        self, candidate: Candidate, to: Stage, why: str, now: datetime, evidence: Mapping[str, Any] | None = None
    ) -> Candidate | None:
        return self.store.candidates.move(
            steps.taken(candidate, to, 0.0, steps.Told(why, evidence=evidence or {})), now
        )


def _raise(trouble: Sequence[Exception]) -> None:
    """One as it is; several as one that tells each once: two phases may miss the same queue."""
    distinct = {_said(error): error for error in trouble}
    if len(distinct) == 1:
        raise next(iter(distinct.values()))
    if distinct:
        raise WhetError("\n".join(distinct))


def _said(error: Exception) -> str:
    """What is not ours to foresee says little without its type."""
    return str(error) if isinstance(error, WhetError | OSError) else f"internal error: {type(error).__name__}: {error}"


def key_of(batch: Batch) -> str:
    """Of the candidate that it becomes."""
    return f"batch:{batch.number}"


def _experience(delivery: Delivery) -> Experience | None:
    """None for what others put into the queue."""
    try:
        return Experience.model_validate_json(delivery.message.body)
    except ValidationError:
        return None


def _message(experience: Experience) -> Message:
    return Message(experience.key, experience.model_dump_json().encode())


def _meant(alias: Alias, candidates: Sequence[Candidate]) -> str | None:
    return next((each.artefact for each in candidates if each.stage in _ALIASED[alias]), None)
