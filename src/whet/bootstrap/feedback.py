"""What people say becomes part of what was learned: a mark or a rating changes rewards, and with them decisions."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pydantic import ValidationError

from whet.agents.catalogue import AGENTS
from whet.bootstrap.assembly import schooling
from whet.core.feedback import Correction, PagedStore, Verdict
from whet.core.ports import Lesson
from whet.core.records import Experience, Finding, Part
from whet.fleet.teaching import Teacher
from whet.rewards import profile, reward_of
from whet.rewards.feedback import heard
from whet.settings.model import Settings

# Of a run, and of what was said last.
MOST = 1000
LATELY = 100


class Taught(NamedTuple):
    """One experience whose reward is another now."""

    key: str
    agent: str
    moved: float


class Listener:
    """Keeps what a person says and teaches it at once. Whoever was killed between the two is caught up with."""

    def __init__(self, store: PagedStore, settings: Settings) -> None:
        self._store = store
        self._teacher = Teacher(store, AGENTS, schooling(settings))

    def mark(self, fingerprint: str, verdict: Verdict | None, by: str) -> list[Taught]:
        self._store.feedback.mark(fingerprint, verdict, by)
        return self._teach(self._store.feedback.behind(fingerprint))

    def rate(self, run_id: str, stars: int, by: str) -> list[Taught]:
        self._store.feedback.rate(run_id, stars, by)
        return self._teach(self._store.experiences.recent(limit=MOST, run_id=run_id))

    def catch_up(self) -> list[Taught]:
        """What was said last, taught where it is not: after a crash, or because a false alarm was raised again."""
        marks, ratings = self._store.feedback.newest(LATELY)
        lived = [each for mark in marks for each in self._store.feedback.behind(mark.fingerprint)]
        for rating in ratings:
            lived += self._store.experiences.recent(limit=MOST, run_id=rating.run_id)
        return self._teach({each.key: each for each in lived}.values())

    def _teach(self, lived: Iterable[Experience]) -> list[Taught]:
        taught = []
        for experience in lived:
            made = self._correction(experience)
            moved = 0.0 if made is None else self._store.feedback.correct(made)
            if moved:
                taught.append(Taught(experience.key, experience.agent, moved))
        return taught

    def _correction(self, experience: Experience) -> Correction | None:
        """None for what another version of Whet recorded in a form that is not known here."""
        alarms, rating = self._false_alarms(experience), self._store.feedback.rating(experience.run_id)
        stars = None if rating is None else rating.stars
        corrected = corrected_parts(experience, alarms, stars)
        if corrected is None:
            return None
        parts, difference = corrected
        said = [f"{sum(alarms.values())} false alarm(s)"] if alarms else []
        said += [] if stars is None else [f"rated {stars} of 5"]
        because = ", ".join(said) or "taken back"
        return Correction(
            key=experience.key, parts=parts, difference=difference, lesson=self._lesson(experience), because=because
        )

    def _false_alarms(self, experience: Experience) -> Mapping[str, int]:
        """By severity."""
        found = {each.fingerprint(): each for each in _findings(experience)}
        marks = self._store.feedback.marks(list(found))
        return Counter(found[name].severity for name, mark in marks.items() if mark.verdict == "false-alarm")

    def _lesson(self, experience: Experience) -> Lesson | None:
        return self._teacher.lesson(experience)


def corrected_parts(
    experience: Experience, false_alarms: Mapping[str, int], stars: int | None
) -> tuple[tuple[Part, ...], float] | None:
    """The reward's parts after people spoke, and how far that moves it from what was measured.

    By the rules under which it was earned, which may not be today's.
    """
    try:
        agent = AGENTS[experience.agent]
        state = agent.state_type.model_validate(experience.state)
        outcome = agent.outcome_type.model_validate(experience.outcome)
        action, rules = agent.action(experience.decision.action), profile(experience.reward.profile)
    except (ValidationError, KeyError):
        return None
    weights = {part.name: part.weight for part in experience.reward.parts}
    measured = agent.value(state, action, outcome)
    before, after = (reward_of(rules, each, weights) for each in (measured, heard(measured, false_alarms, stars)))
    return after.parts, after.raw - before.raw


def _findings(experience: Experience) -> list[Finding]:
    told = experience.outcome.get("findings")
    return [Finding.model_validate(each) for each in told] if isinstance(told, list) else []
