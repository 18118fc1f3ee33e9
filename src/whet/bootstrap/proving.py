"""What a candidate is judged with: held-out runs of this project that production decided."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from pydantic import ValidationError

from whet.bootstrap.assembly import MODELS, shelf, valuing
from whet.bootstrap.drifting import changes
from whet.bootstrap.site import Site
from whet.bootstrap.training_worlds import recorded_worlds
from whet.core.candidates import Candidate, Stage
from whet.core.errors import RefusedInput, WhetError
from whet.core.ports import Policy, Store
from whet.core.records import Experience
from whet.fleet.gate import Gate
from whet.improvement.pipeline import Examination
from whet.improvement.proving import holdout
from whet.improvement.proving.accuracy import examine_on_worlds
from whet.improvement.proving.gates import Rules, judge, kept
from whet.improvement.proving.ranges import plausible_range
from whet.improvement.rollout.assignment import policy_name
from whet.settings.model import Settings

_SALT = "whet learn"
# Of earlier batches, on which a candidate must not have become worse.
_OLD = 2000
_PASSED = (Stage.PROVEN, Stage.CANARY, Stage.PRODUCTION, Stage.RETIRED, Stage.ROLLED_BACK)


class Rivals(NamedTuple):
    """Who shall decide, and who decides today: a candidate by its number, or (None) what settings choose."""

    candidate: Policy
    production: Policy
    number: int | None


def held_out(settings: Settings) -> Callable[[str], bool]:
    return lambda run_id: holdout.held_out(run_id, _SALT, settings.learn.holdout)


def examiner(
    site: Site, store: Store, opened: Callable[[Candidate], Policy]
) -> Callable[[Candidate, datetime], Examination]:
    def examine(candidate: Candidate, now: datetime) -> Examination:
        try:
            policy = opened(candidate)
        except RefusedInput as error:
            return Examination(False, f"its files were refused: {error}", {})
        except (WhetError, OSError) as error:  # of the registry, not of the candidate: it waits until that is mended
            return Examination(None, f"not known yet: its files are out of reach: {error}", {})
        try:
            rivals = _rivals(site, store, candidate.agent, policy, opened)
        except (WhetError, OSError) as error:
            return Examination(None, f"not known yet: what decides today cannot be asked: {error}", {})
        return _judged(site, store, candidate, rivals, now)

    return examine


def _rivals(site: Site, store: Store, agent: str, policy: Policy, opened: Callable[[Candidate], Policy]) -> Rivals:
    """A line of settings keeps its policy, whoever is in production."""
    there = store.candidates.at_stage(agent, Stage.PRODUCTION)
    if there and agent not in site.settings.policies:
        return Rivals(policy, opened(there[0]), there[0].number)
    chosen = shelf(site.settings, store, 0, site.state_dir / MODELS)
    return Rivals(policy, chosen.policy_for(agent, ""), None)


def _judged(site: Site, store: Store, candidate: Candidate, rivals: Rivals, now: datetime) -> Examination:
    settings, agent = site.settings, candidate.agent
    others = [each for each in store.candidates.all(agent) if each.number != candidate.number]
    since = _judged_since(store, candidate, others)
    lived = store.experiences.recent(agent, settings.learn.stream_capacity)
    judging = _of_production(settings, store, lived, _decided_today(rivals.number, others), since)
    judged_by = rules(settings, lived)
    found = judge(
        rivals.candidate,
        rivals.production,
        agent,
        judging,
        store.learning.trained_before(agent, candidate.lineage.batch, _OLD),
        judged_by,
        tried=holdout.tried(others, since),
        kept_on_worlds=_kept_on_worlds(site, agent, rivals, judged_by.gate),
    )
    window = holdout.window(judging, since, now).model_dump(mode="json")
    passed = {"passed": True, "rejected": False, "inconclusive": None}[found.verdict.outcome]
    return Examination(passed, found.verdict.why, {**found.told(), holdout.WINDOW: window})


def _kept_on_worlds(site: Site, agent: str, rivals: Rivals, gate: Gate) -> float | None:
    """On those that were recorded in this project, if there are any of this agent."""
    how, worlds = valuing(site.settings), recorded_worlds(site, agent)
    sides = (rivals.candidate, rivals.production)
    try:
        return kept(*(examine_on_worlds(each, worlds, how.profile, how.weights, gate) for each in sides))
    except ValidationError as error:
        raise WhetError(
            f"A recorded world of {agent} is of another version of Whet.",
            f"Record it again (whet record --agent {agent}), or remove it from {site.state_dir / 'worlds'}.",
        ) from error


def _judged_since(store: Store, candidate: Candidate, others: Sequence[Candidate]) -> datetime | None:
    """After what its parent was judged with, and after the same actions began to earn something else."""
    drift = changes(store, (candidate.agent,)).rewards_since(candidate.agent)
    begins = holdout.begins_after(_chosen_parent(candidate, others))
    return max((at for at in (begins, None if drift is None else drift.at) if at is not None), default=None)


def _chosen_parent(candidate: Candidate, others: Sequence[Candidate]) -> Candidate | None:
    """Whom it goes on from, if that one passed: by luck, too, on the runs it was judged with. One that was never proven
    was not chosen by them."""
    return next((o for o in others if o.number == candidate.lineage.parent and o.stage in _PASSED), None)


def _decided_today(number: int | None, others: Sequence[Candidate]) -> Callable[[str], bool]:
    """By the name of a policy. What a canary did is not what it replaces, and no more is what production replaced."""
    if number is not None:
        return lambda policy: policy == policy_name(number)
    candidates = {policy_name(each.number) for each in others}
    return lambda policy: policy not in candidates


def _of_production(
    settings: Settings,
    store: Store,
    lived: Sequence[Experience],
    decided_today: Callable[[str], bool],
    since: datetime | None,
) -> list[Experience]:
    """Held out, fit to train with, and decided by what is in production."""
    learn = settings.learn
    refused = {each.key for each in store.learning.refused(learn.stream_capacity)}
    usable = [e for e in reversed(lived) if e.key not in refused and decided_today(e.decision.policy)]
    return holdout.fresh(usable, _SALT, since, learn.holdout)


def rules(settings: Settings, lived: Sequence[Experience]) -> Rules:
    how, asked = valuing(settings), settings.production
    return Rules(
        gate=Gate(settings.confidence.review_below, settings.confidence.review_hiding_below),
        reward=plausible_range(lived, how.profile, how.weights, how.team_share),
        accuracy=asked.min_accuracy,
        regression=asked.min_regression,
        safety=asked.min_safety,
        level=asked.confidence_level,
        effective=asked.min_effective,
    )
