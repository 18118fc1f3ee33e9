"""What `whet train` was asked for, made ready: what is learned, by whom, and where it is put."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from whet.agents.catalogue import AGENTS, AnyAgent, agent_named
from whet.bootstrap.assembly import MODELS, new_seed, valuing
from whet.bootstrap.site import Site
from whet.bootstrap.training_worlds import WORLD, worlds_from
from whet.core.errors import WhetError
from whet.core.text import printable
from whet.improvement.cases import is_case_file, read_cases
from whet.improvement.cases_running import Live
from whet.improvement.training_cases import CaseLesson, digest, judged, lesson_of, subject_of_cases, told
from whet.improvement.training_learners import BATCH, Policy
from whet.improvement.training_record import Order, TrainingFolder
from whet.improvement.training_scenes import NothingToTrainOn, Scenes, of_history, of_worlds
from whet.improvement.training_subject import subject_of
from whet.improvement.training_under_way import Trainee
from whet.policies.deep.batched import worth_batching

if TYPE_CHECKING:  # it imports torch
    from whet.improvement.cases_evaluation import HeldOut

HISTORY, CASES, ALL = "history", "cases", "all"


class Asked(NamedTuple):
    agent: str | None
    source: str
    service: str | None
    policy: Policy | None
    steps: int
    out: Path | None
    curriculum: bool = False
    keep: bool = False
    share: bool = False
    memories: int = 0


class Ready(NamedTuple):
    """`said`: what people should know before it begins. `judge`: when it has ended, where something was held out."""

    trainees: Sequence[Trainee]
    said: tuple[str, ...] = ()
    judge: "Callable[[], HeldOut | None]" = lambda: None


class _Lesson(NamedTuple):
    scenes: Scenes
    worlds: dict[str, Scenes]  # the same, world by world, where it comes from worlds


@contextmanager
def prepared(site: Site, asked: Asked) -> Iterator[Ready]:
    """While it is open, whatever cases are executed against is connected."""
    if asked.source not in (WORLD, HISTORY) and is_case_file(Path(asked.source)):
        with _cases(site, asked) as ready:
            yield ready
        return
    if asked.agent is None and asked.source not in (WORLD, HISTORY) and not Path(asked.source).exists():
        raise WhetError(
            f"There is no file {printable(asked.source, 300)}.", "Give one of test cases, or name an agent."
        )
    if asked.agent is None:
        raise WhetError("Whose policy is to be trained?", "Name an agent: --agent test-executor, or --agent all")
    if asked.service is not None:
        raise WhetError("Only test cases are executed against a service.", "Leave out --service, or give --from FILE.")
    if asked.curriculum and asked.source == HISTORY:
        raise WhetError("A curriculum chooses between worlds, and a history is one.", "Leave out --curriculum.")
    if asked.share and (asked.agent != ALL or asked.policy == "ppo"):
        raise WhetError("Only DQNs that are trained side by side share experience.", "Give --agent all, without ppo.")
    if asked.memories and asked.policy == "ppo":
        raise WhetError("Only a DQN attends to memories.", "Leave out --policy ppo, or --memories.")
    yield _all(site, asked) if asked.agent == ALL else _one(site, asked, asked.agent)


def _one(site: Site, asked: Asked, agent: str) -> Ready:
    lesson = _lesson(site, agent_named(agent), asked.source)
    return Ready([_trainee(site, asked, lesson, ())])


def _all(site: Site, asked: Asked) -> Ready:
    """Every agent that there is something to train on."""
    if asked.source not in (WORLD, HISTORY):
        raise WhetError(f"{asked.source} is a world of one agent.", "Name that one instead of --agent all.")
    lessons, said = [], []
    for agent in AGENTS.values():
        try:
            lessons.append(_lesson(site, agent, asked.source))
        except NothingToTrainOn as error:
            said.append(f"{agent.name} is left out. {error}")
    if not lessons:
        raise WhetError("There is nothing to train any agent on.", "Visit the project first: whet run")
    names, (batched, why) = tuple(each.scenes.agent for each in lessons), _batched(asked, len(lessons))
    said.append(f"{len(names)} agents improve {'as one computation' if batched else 'one by one'}: {why}.")
    return Ready([_trainee(site, asked, each, names if batched else ()) for each in lessons], tuple(said))


def _batched(asked: Asked, agents: int) -> tuple[bool, str]:
    if asked.policy == "ppo":
        return False, "only networks of DQN can be put together"
    if asked.memories:
        return False, "networks with room for memories cannot be put together"
    if asked.keep:
        return False, "each holds on to what it learned before by itself"
    if worth_batching(BATCH, agents):
        return True, "measured to be faster (docs/together.md)"
    return False, f"one computation was not measured to be faster for {agents} at a batch of {BATCH} (docs/together.md)"


def _lesson(site: Site, agent: AnyAgent, source: str) -> _Lesson:
    if source == HISTORY:
        return _Lesson(_measured_here(site, agent), {})
    how, worlds = valuing(site.settings), worlds_from(site, agent, source)
    apart = {world.name: of_worlds([world], how.profile, how.weights) for world in worlds}
    return _Lesson(of_worlds(worlds, how.profile, how.weights), apart)


def _trainee(site: Site, asked: Asked, lesson: _Lesson, together: tuple[str, ...]) -> Trainee:
    scenes = lesson.scenes
    out = asked.out / scenes.agent if asked.out is not None and asked.agent == ALL else asked.out
    changes = {
        "curriculum": asked.curriculum, "keep": asked.keep, "share": asked.share, "memories": asked.memories,
        "together": together,
    }  # fmt: skip
    order, folder = _order(
        site, asked._replace(out=out), scenes.agent, asked.policy or "dqn", scenes.sources, scenes.digest
    )
    order = order.model_copy(update=changes)
    return Trainee(subject_of(scenes, order, lesson.worlds if order.curriculum else None), order, folder)


@contextmanager
def _cases(site: Site, asked: Asked) -> Iterator[Ready]:
    if asked.agent is not None or asked.policy == "dqn":
        raise WhetError("Test cases are learned by PPO, for no agent.", "Leave out --agent and --policy.")
    if asked.curriculum or asked.keep or asked.share or asked.memories:
        raise WhetError(
            "Test cases are one world, learned anew.", "Leave out --curriculum, --keep, --share, --memories."
        )
    cases = read_cases(Path(asked.source))
    if asked.service is None:
        yield _ready_for_cases(site, asked, lesson_of(cases, None))
        return
    with Live(asked.service) as live:
        yield _ready_for_cases(site, asked, lesson_of(cases, live))


def _ready_for_cases(site: Site, asked: Asked, lesson: CaseLesson) -> Ready:
    chosen = lesson.training
    order, folder = _order(site, asked, CASES, "ppo", (told(chosen),), digest(chosen))
    trainee = Trainee(subject_of_cases(chosen, lesson.runner, order), order, folder)
    return Ready([trainee], judge=lambda: judged(lesson, folder))


def _measured_here(site: Site, agent: AnyAgent) -> Scenes:
    if not site.visited:
        return of_history(agent, ())
    with site.store() as store:
        return of_history(agent, reversed(store.experiences.recent(agent.name, store.experiences.count(agent.name))))


def _order(
    site: Site, asked: Asked, agent: str, policy: Policy, sources: Sequence[str], contents: str
) -> tuple[Order, TrainingFolder]:
    """The seed of a training that goes on is the one it began with, unless another one is asked for."""
    folder = TrainingFolder(asked.out or (site.state_dir / MODELS / agent / policy).absolute())
    settings = site.settings
    seed = folder.order().seed if folder.begun and settings.seed is None else new_seed(settings)
    order = Order(
        agent=agent,
        policy=policy,
        seed=seed,
        steps=asked.steps,
        checkpoint_steps=settings.training.save_every,
        discount=settings.q_learning.discount_factor,
        source=asked.source,
        sources=tuple(sources),
        digest=contents,
        device=settings.training.device,
    )
    return order, folder
