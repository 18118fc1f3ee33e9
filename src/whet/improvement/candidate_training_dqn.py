"""The network of a candidate: its parent's, trained on what was lived since, and held to what it knew before.

What was lived is an environment (`training_scenes.of_history`), earlier experiences among it: that is the replay of old
tasks. What the values of earlier states depend on may hardly move (`policies.deep.ewc`): the anchor is the parent, the
Fisher information that of the earlier experiences. The files of the policy hold the weights alone; experiences and
optimiser begin anew with every candidate.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from whet.agents.catalogue import AnyAgent
from whet.core.records import Experience
from whet.improvement.candidate_training_tables import Learned
from whet.improvement.training import train
from whet.improvement.training_record import LEARNER, Order, TrainingFolder
from whet.improvement.training_scenes import Scenes, of_history
from whet.improvement.training_subject import situations_of, subject_of
from whet.policies.deep import artefacts, dqn_artefact
from whet.policies.deep.dqn import DQN
from whet.policies.deep.encoding import Encoder
from whet.policies.deep.ewc import Consolidation


class Course(NamedTuple):
    """How long, from which random numbers, and by which means against forgetting."""

    seed: int
    steps: int
    checkpoint_steps: int
    discount: float
    importance: float
    hold: bool = True
    replay: bool = True


def learn_network(
    agent: AnyAgent,
    course: Course,
    batch: Sequence[Experience],
    before: Sequence[Experience],
    parent: Path | None,
    work: Path,
    out: Path,
) -> Learned:
    """In `work`, where whoever dies goes on; the weights are put into `out`."""
    replayed = before if course.replay else ()
    scenes = of_history(agent, {each.key: each for each in (*replayed, *batch)}.values())
    held = of_history(agent, before) if course.hold and before else None
    known = _known(agent, parent)
    order, folder = _order(course, scenes, known, held), TrainingFolder(work)
    resume = folder.begun and folder.order() == order
    if known is not None and not resume:
        _lay(known, held, course, folder)
    for _ in train(subject_of(scenes, order), order, folder, resume=resume):
        pass
    save_weights(DQN.open(folder.learner), out / LEARNER)
    rows = folder.rows()
    return Learned({f"network_{name}": rows[-1][name] for name in ("loss", "td_error") if name in rows[-1]}, rows)


def save_weights(learner: DQN, folder: Path) -> None:
    """Of the network that decides; a name that follows from them makes equal weights equal files."""
    tensors = {
        f"{dqn_artefact.ONLINE}{name}": tensor.detach().cpu().numpy()
        for name, tensor in learner.online.named_parameters()
    }
    told = hashlib.sha256(b"".join(tensors[name].tobytes() for name in sorted(tensors))).hexdigest()
    place = folder / f"save.{told[:16]}"
    place.mkdir(parents=True, exist_ok=True)
    artefacts.finish(place, dqn_artefact.KIND, learner.config, {}, tensors)


def with_weights(folder: Path, seed: int) -> DQN:
    """A learner that begins with the weights in the folder, and with nothing else."""
    config, weights = dqn_artefact.weights_in(folder)
    learner = DQN(config, seed)
    for network in (learner.online, learner.target):
        network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return learner


def _known(agent: AnyAgent, parent: Path | None) -> Path | None:
    """The parent's weights; None where it has none, or was made for other states or actions."""
    if parent is None or not (parent / LEARNER / artefacts.NAME).exists():
        return None
    config, _ = dqn_artefact.weights_in(parent / LEARNER)
    fits = config.layout == Encoder(agent.state_type).layout
    return parent / LEARNER if fits and config.actions == tuple(action.name for action in agent.actions) else None


def _lay(known: Path, held: Scenes | None, course: Course, folder: TrainingFolder) -> None:
    """Where training that keeps what it knew looks for it."""
    learner, memory = with_weights(known, course.seed), Consolidation(course.importance)
    if held is not None:
        rows, masks = (torch.from_numpy(each) for each in situations_of(held))
        memory.consolidate(learner.online, rows, masks)
    learner.save(folder.learner)
    folder.keep(memory)


def _order(course: Course, scenes: Scenes, known: Path | None, held: Scenes | None) -> Order:
    """Equal orders give equal weights, so that it says all that they depend on."""
    weights = "none" if known is None else artefacts.read(known, dqn_artefact.KIND).manifest.sha256
    anchor = "nothing" if held is None else f"{held.digest} by {course.importance:g}"
    return Order(
        agent=scenes.agent,
        policy="dqn",
        seed=course.seed,
        steps=course.steps,
        checkpoint_steps=course.checkpoint_steps,
        discount=course.discount,
        source="history",
        sources=(*scenes.sources, f"weights {weights}", f"held to {anchor}"),
        digest=scenes.digest,
        keep=known is not None,
    )
