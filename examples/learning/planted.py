"""What goes wrong in these weeks, on purpose."""

from collections.abc import Sequence

from whet.bootstrap.learning import Lessons, Trainer
from whet.core.candidates import Candidate
from whet.core.learning_log import Batch
from whet.core.records import Experience, Reward
from whet.improvement.rehearsal import Scene, exchanged

SUBTLE_BATCH = 1  # the candidate made of it is worse in use than any log could tell
SPOILT_BATCH = 3  # its rewards are turned round on their way to training
CHANGED_ON = 19  # the day from which the shop is another project
LOSS_IN_USE = 20.0


def scenes_on(day: int, scenes: Sequence[Scene]) -> Sequence[Scene]:
    """Since the change, what paid best pays least: the suite became one that only retries get through."""
    return exchanged(scenes, "run_fast_first", "retry_failed_3x") if day >= CHANGED_ON else scenes


class SpoiltTrainer(Trainer):
    def lessons(self, batch: Batch, parent: Candidate | None) -> Lessons:
        lessons = super().lessons(batch, parent)
        if batch.number != SPOILT_BATCH:
            return lessons
        return Lessons([_turned_round(each) for each in lessons.batch], (), None)


def worse_in_use(candidates: Sequence[Candidate], policy: str, reward: Reward) -> Reward:
    """A loss that no part of the reward explains: comparing runs shows it, and training refuses it as out of range."""
    subtle = {f"candidate-{each.number}" for each in candidates if each.lineage.batch == SUBTLE_BATCH}
    if policy not in subtle:
        return reward
    less = {name: getattr(reward, name) - LOSS_IN_USE for name in ("raw", "shaped", "credited")}
    return reward.model_copy(update=less)


def _turned_round(experience: Experience) -> Experience:
    reward = experience.reward
    return experience.with_reward(reward.model_copy(update={"credited": -reward.credited}))
