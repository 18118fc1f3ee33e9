"""Who gets the credit for what a run achieved.

Most of a reward stays with the agent that earned it: with a fully shared reward the learning signal of one agent
drowns in the doings of the others (D. Wolpert, K. Tumer, "Optimal payoff functions for members of collectives", 2001).
A small share goes to the whole team, because one agent's work shows in another's outcome (an order that finds a failure
early leaves time to hunt flaky tests). Credit is shared, never made: the total stays.
"""

import math
from collections.abc import Sequence
from typing import Final

from whet.core.errors import RefusedInput
from whet.core.records import Reward
from whet.rewards.reward import within_points

TEAM_SHARE: Final = 0.2


def assign(rewards: Sequence[tuple[str, str, Reward]], team_share: float = TEAM_SHARE) -> dict[str, Reward]:
    """Credit for the turns of one run, given as (key, agent, reward); by key.

    Every turn gives up `team_share` of its shaped reward, and the pot is split equally over the turns. An agent that
    worked alone has no team: mixing its turns with each other would only blur which of them was good.
    """
    _refuse_unusable(rewards, team_share)
    if not rewards:
        return {}
    alone = len({agent for _, agent, _ in rewards}) == 1
    team_mean = math.fsum(reward.shaped for _, _, reward in rewards) / len(rewards)
    return {key: _credited(reward, team_mean, 0.0 if alone else team_share) for key, _, reward in rewards}


def _credited(reward: Reward, team_mean: float, team_share: float) -> Reward:
    credited = (1.0 - team_share) * reward.shaped + team_share * team_mean
    return reward.model_copy(update={"credited": within_points(credited, "The credited reward")})


def _refuse_unusable(rewards: Sequence[tuple[str, str, Reward]], team_share: float) -> None:
    if not 0.0 <= team_share <= 1.0:
        raise RefusedInput(f"The team share is {team_share}.", "Give a number from 0 (none) to 1 (everything).")
    if len({key for key, _, _ in rewards}) < len(rewards):
        raise RefusedInput("A turn is listed twice.", "Every turn of a run needs a key of its own.")
