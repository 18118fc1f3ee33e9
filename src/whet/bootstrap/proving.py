"""What a candidate is judged with: held-out runs of this project that production decided."""

from collections.abc import Callable, Sequence
from datetime import datetime

from whet.bootstrap.assembly import valuing
from whet.bootstrap.drifting import changes
from whet.core.candidates import Candidate, Stage
from whet.core.errors import RefusedInput, WhetError
from whet.core.ports import Policy, Store
from whet.core.records import Experience
from whet.fleet.gate import Gate
from whet.improvement.pipeline import Examination
from whet.improvement.proving import holdout
from whet.improvement.proving.gates import Rules, judge
from whet.improvement.proving.ranges import plausible_range
from whet.improvement.rollout.assignment import policy_name
from whet.settings.model import Settings

_SALT = "whet learn"
# Of earlier batches, on which a candidate must not have become worse.
_OLD = 2000
_PASSED = (Stage.PROVEN, Stage.CANARY, Stage.PRODUCTION, Stage.RETIRED, Stage.ROLLED_BACK)


def held_out(settings: Settings) -> Callable[[str], bool]:
    return lambda run_id: holdout.held_out(run_id, _SALT, settings.learn.holdout)


def examiner(
    settings: Settings, store: Store, opened: Callable[[Candidate], Policy]
) -> Callable[[Candidate, datetime], Examination]:
    def examine(candidate: Candidate, now: datetime) -> Examination:
        try:
            policy = opened(candidate)
        except RefusedInput as error:
            return Examination(False, f"its files were refused: {error}", {})
        except (WhetError, OSError) as error:  # of the registry, not of the candidate: it waits until that is mended
            return Examination(None, f"not known yet: its files are out of reach: {error}", {})
        return _judged(settings, store, candidate, policy, now)

    return examine


def _judged(settings: Settings, store: Store, candidate: Candidate, policy: Policy, now: datetime) -> Examination:
    others = [each for each in store.candidates.all(candidate.agent) if each.number != candidate.number]
    since = _judged_since(store, candidate, others)
    lived = store.experiences.recent(candidate.agent, settings.learn.stream_capacity)
    judging = _of_production(settings, store, lived, others, since)
    found = judge(
        policy,
        candidate.agent,
        judging,
        store.learning.trained_before(candidate.agent, candidate.lineage.batch, _OLD),
        _rules(settings, lived),
        tried=holdout.tried(others, since),
    )
    window = holdout.window(judging, since, now).model_dump(mode="json")
    passed = {"passed": True, "rejected": False, "inconclusive": None}[found.verdict.outcome]
    return Examination(passed, found.verdict.why, {**found.told(), holdout.WINDOW: window})


def _judged_since(store: Store, candidate: Candidate, others: Sequence[Candidate]) -> datetime | None:
    """After what its parent was judged with, and after the same actions began to earn something else."""
    drift = changes(store, (candidate.agent,)).rewards_since(candidate.agent)
    begins = holdout.begins_after(_chosen_parent(candidate, others))
    return max((at for at in (begins, None if drift is None else drift.at) if at is not None), default=None)


def _chosen_parent(candidate: Candidate, others: Sequence[Candidate]) -> Candidate | None:
    """Whom it goes on from, if that one passed: by luck, too, on the runs it was judged with. One that was never proven
    was not chosen by them."""
    return next((o for o in others if o.number == candidate.lineage.parent and o.stage in _PASSED), None)


def _of_production(
    settings: Settings, store: Store, lived: Sequence[Experience], others: Sequence[Candidate], since: datetime | None
) -> list[Experience]:
    """Held out, fit to train with, and decided by what is in production: what a canary did is not what it replaces."""
    learn = settings.learn
    refused = {each.key for each in store.learning.refused(learn.stream_capacity)}
    strangers = {policy_name(each.number) for each in others if each.stage is not Stage.PRODUCTION}
    usable = [e for e in reversed(lived) if e.key not in refused and e.decision.policy not in strangers]
    return holdout.fresh(usable, _SALT, since, learn.holdout)


def _rules(settings: Settings, lived: Sequence[Experience]) -> Rules:
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
