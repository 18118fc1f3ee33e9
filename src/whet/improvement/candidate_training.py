"""A candidate is trained: from what was lived since the last one, without forgetting what was lived before.

    told = train(order, batch, before, parent_folder, out)   # out: the files of the policy, for a registry
    opened_policy(order.kind, out, agent, "candidate-12", …)  # whet.policies.frozen

Everything is a function of the arguments: whoever dies and is asked again writes the same bytes. Experiences that the
candidate will be judged on must not be among them.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from whet.agents.catalogue import agent_named
from whet.core.candidates import ModelKind
from whet.core.errors import RefusedInput
from whet.core.records import Count, Experience, Record
from whet.improvement.candidate_training_tables import Learned, learn_tables
from whet.policies.deep.extra import TRAINING, require

KINDS: Sequence[ModelKind] = ("tables", "dqn")


class CandidateOrder(Record):
    agent: str
    kind: ModelKind
    seed: Count
    rate: Annotated[float, Field(gt=0.0, le=1.0)] = 0.1
    discount: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.95
    steps: Annotated[int, Field(ge=1)] = Field(8000, description="simulated decisions that a network is trained with")
    checkpoint_steps: Annotated[int, Field(ge=1)] = 2000
    importance: Annotated[float, Field(ge=0.0)] = Field(1000.0, description="how strongly EWC holds")
    hold: bool = Field(True, description="on to what the parent knows: its tables, and by EWC its network")
    replay: bool = Field(True, description="earlier experiences together with the new ones")


def train(
    order: CandidateOrder, batch: Sequence[Experience], before: Sequence[Experience], parent: Path | None, out: Path
) -> Learned:
    """`before`: of earlier batches, oldest first. `parent`: the files of the candidate to go on from.

    What is told has the measures, and as `rows` the course of training. The folder `out` is there when all of it is;
    whatever was there before is replaced.
    """
    if order.kind not in KINDS:
        raise RefusedInput(f"No candidates of the kind {order.kind!r} are trained.", f"Choose {' or '.join(KINDS)}.")
    lived, earlier = (_taught(order, each) for each in (batch, before))
    if not lived:
        raise RefusedInput(
            f"There is nothing to train {order.agent} with: no experience of the batch taught anything.",
            "Wait until more was lived.",
        )
    part, work = (out.with_name(f".{out.name}.{what}") for what in ("part", "training"))
    shutil.rmtree(part, ignore_errors=True)
    replayed, held = earlier if order.replay else [], parent if order.hold else None
    told = learn_tables(agent_named(order.agent), order.rate, order.discount, lived, replayed, held, part)
    if order.kind == "dqn":
        network = _network(order, lived, earlier, parent, work, part)
        told = Learned({**told.metrics, **network.metrics}, network.rows)
    _put(part, out)
    shutil.rmtree(work, ignore_errors=True)
    return told


def _network(
    order: CandidateOrder,
    batch: Sequence[Experience],
    before: Sequence[Experience],
    parent: Path | None,
    work: Path,
    part: Path,
) -> Learned:
    require("A candidate of the kind 'dqn'", TRAINING)
    from whet.improvement.candidate_training_dqn import Course, learn_network

    course = Course(
        order.seed, order.steps, order.checkpoint_steps, order.discount, order.importance, order.hold, order.replay
    )
    return learn_network(agent_named(order.agent), course, batch, before, parent, work, part)


def _taught(order: CandidateOrder, experiences: Sequence[Experience]) -> list[Experience]:
    """What the budget cut short, and what was not earned, teaches nothing."""
    strangers = [each for each in experiences if each.agent != order.agent]
    if strangers:
        raise RefusedInput(
            f"{strangers[0].key} is an experience of {strangers[0].agent}, not of {order.agent}.",
            "Train each agent with its own.",
        )
    return [each for each in experiences if each.teaches]


def _put(part: Path, out: Path) -> None:
    """In one step where nothing is there yet; what an earlier attempt left has the same bytes, and gives way."""
    if out.exists():
        shutil.rmtree(out)
    part.replace(out)
