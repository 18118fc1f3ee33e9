"""Judges experiences one by one: fit to train with, or not and why."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from whet.core.learning_log import Judged, Quality
from whet.core.records import Experience, State
from whet.fleet.reward_safety import RewardWatch
from whet.improvement.intake.acquaintance import Doubles, Ground
from whet.improvement.intake.form import Agents, impossible, malformed, other_rules, out_of_range
from whet.improvement.intake.retention import Retention
from whet.rewards.profiles import Profile


class Filter:
    """Judge in the order of the stream: what is usual is known from what came before.

    >>> judging = Filter(AGENTS, profile("multi-objective"), weights={})
    >>> judging.remember(reversed(store.experiences.recent(limit=1000)))
    >>> judged = [judging.judge(seen.experience, now()) for seen in store.learning.unread(500)]
    """

    def __init__(
        self, agents: Agents, profile: Profile, weights: Mapping[str, float], retention: Retention | None = None
    ) -> None:
        self._agents, self._profile, self._weights = agents, profile, dict(weights)
        self._retention = retention or Retention()
        self._doubles = Doubles(self._retention.stream)
        self._grounds: dict[str, Ground] = {}
        self._watch = RewardWatch(agents)

    def remember(self, earlier: Iterable[Experience]) -> None:
        """Get acquainted with what was judged in an earlier life, oldest first; nothing is judged."""
        for experience in earlier:
            if malformed(experience, self._agents) is None:
                self._doubles.first(experience)
                self._watch.look(experience)
                self._ground(experience).far(self._state(experience), experience.run_id)

    def judge(self, experience: Experience, now: datetime, newer: int = 0) -> Judged:
        """`newer` is how many experiences came after it and wait to be judged as well."""
        quality, why = self._verdict(experience, now, newer)
        return Judged(experience.key, experience.agent, quality, why)

    def _verdict(self, experience: Experience, now: datetime, newer: int) -> tuple[Quality, str]:
        if why := malformed(experience, self._agents):
            return Quality.MALFORMED, why
        if why := impossible(experience, now):
            return Quality.OUT_OF_RANGE, why
        if why := self._stale(experience, now, newer):
            return Quality.STALE, why
        if why := out_of_range(experience, self._profile, self._weights):
            return Quality.OUT_OF_RANGE, why
        first = self._doubles.first(experience)
        if first != experience.key:
            return Quality.DUPLICATE, f"It is {first} again: the same run, state, action and outcome under another key."
        return self._content(experience)

    def _content(self, experience: Experience) -> tuple[Quality, str]:
        """A reward that was not earned says so before a state that is far from others."""
        suspicion = self._watch.look(experience)
        if suspicion is not None:
            return Quality.SUSPECTED_HACK, suspicion.why
        if why := self._ground(experience).far(self._state(experience), experience.run_id):
            return Quality.OFF_DISTRIBUTION, why
        return Quality.GOOD, ""

    def _stale(self, experience: Experience, now: datetime, newer: int) -> str | None:
        if newer >= self._retention.stream:
            return f"{newer:,} newer ones wait; of those that wait, the newest {self._retention.stream:,} are kept."
        if self._retention.expired(experience.at, now):
            days = (now - experience.at).total_seconds() / 86_400
            return f"It is {days:,.1f} days old; experiences are kept for {self._retention.days:g}."
        return other_rules(experience, self._profile, self._weights)

    def _state(self, experience: Experience) -> State:
        return self._agents[experience.agent].state_type.model_validate(experience.state)

    def _ground(self, experience: Experience) -> Ground:
        if experience.agent not in self._grounds:
            self._grounds[experience.agent] = Ground(self._agents[experience.agent].state_type)
        return self._grounds[experience.agent]
