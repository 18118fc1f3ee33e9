"""The learners that `whet train` knows, with what was found to fit Whet's agents: few states, noisy outcomes."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from whet.core.errors import WhetError
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import DeepLearner

if TYPE_CHECKING:  # only training needs torch
    from torch import nn

Policy = Literal["dqn", "ppo"]
Device = Literal["cpu", "auto", "cuda"]
BATCH = 128
# Simulated decisions cost nothing, so that every action is tried often enough to know what it is worth.
_EXPLORING = {"epsilon": 1.0, "epsilon_floor": 0.1, "epsilon_decay": 0.9995}


def new_learner(
    policy: Policy,
    layout: Layout,
    actions: tuple[str, ...],
    points: float,
    discount: float,
    steps: int,
    seed: int,
    device: Device = "cpu",
) -> DeepLearner:
    """`points` is the size of the rewards; both learners bring it to about 1, and tell values in rewards again.
    `steps`: how long it is going to learn."""
    _one_thread()
    if policy == "dqn":
        return _new_dqn(layout, actions, points, discount, steps, seed, device)
    return _new_ppo(layout, actions, discount, seed, device)


def open_learner(policy: Policy, folder: Path) -> DeepLearner:
    _one_thread()
    opened: Callable[[Path], DeepLearner]
    if policy == "dqn":
        from whet.policies.deep.dqn import DQN

        opened = DQN.open
    else:
        from whet.policies.deep.ppo import PPO

        opened = PPO.open
    return opened(folder)


def begun_from(policy: Policy, folder: Path, fresh: DeepLearner, seed: int) -> DeepLearner:
    """With the weights and settings of the learner in the folder; experiences, optimiser and schedules begin anew."""
    if not folder.exists():
        raise WhetError(f"There is nothing to keep: {folder} has no trained policy.", "Train first without --keep.")
    earlier = open_learner(policy, folder)
    if _asked(fresh) != _asked(earlier):
        raise WhetError(
            f"The policy in {folder} was made for other states or actions.", "Train anew: whet train without --keep."
        )
    learner: DeepLearner = type(earlier)(earlier.config, seed)  # type: ignore[attr-defined,call-arg]  # DQN and PPO
    for mine, theirs in zip(_networks(learner), _networks(earlier), strict=True):
        mine.load_state_dict(theirs.state_dict())
    return learner


def network_of(learner: DeepLearner) -> "nn.Module":
    """That says what actions are worth, or how much they are preferred."""
    return _networks(learner)[0]


def _networks(learner: DeepLearner) -> tuple["nn.Module", ...]:
    from whet.policies.deep.dqn import DQN
    from whet.policies.deep.ppo import PPO

    match learner:
        case DQN():
            return learner.online, learner.target
        case PPO():
            return learner.updater.network.actor, learner.updater.network.critic
    raise WhetError(f"A {type(learner).__name__} has no network that can be kept.", "Train a DQN or PPO.")


def _asked(learner: DeepLearner) -> tuple[object, object]:
    return learner.config.layout, learner.config.actions  # type: ignore[attr-defined]  # DQN and PPO have one


def _new_dqn(
    layout: Layout, actions: tuple[str, ...], points: float, discount: float, steps: int, seed: int, device: Device
) -> DeepLearner:
    from whet.policies.deep.dqn import DQN
    from whet.policies.deep.dqn_config import Config, Network

    network = Network(encoder=(128, 64), stream=32, heads=10, attention=32)
    config = Config(
        layout=layout, actions=actions, network=network, discount=discount, reward_scale=1.0 / points,
        learning_rate=1e-3, target_rate=0.01, batch=BATCH, steps_per_round=8, capacity=100_000, anneal_steps=steps,
        device=device, **_EXPLORING,
    )  # fmt: skip
    return DQN(config, seed)


def _new_ppo(layout: Layout, actions: tuple[str, ...], discount: float, seed: int, device: Device) -> DeepLearner:
    from whet.policies.deep.ppo import PPO
    from whet.policies.deep.ppo_config import Config

    config = Config(
        layout=layout, actions=actions, discount=discount, rollout_steps=32, epochs=10, entropy_weight=0.01,
        device=device,
    )  # fmt: skip
    return PPO(config, seed)


def _one_thread() -> None:
    """Networks this small are quicker on one, and give the same result on every machine with the same instructions."""
    import torch

    torch.set_num_threads(1)
