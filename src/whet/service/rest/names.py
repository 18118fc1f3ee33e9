"""Names that there are, as types: what is none of them is refused, and /openapi.json lists them."""

from typing import TYPE_CHECKING, Literal

from whet.agents.catalogue import AGENTS
from whet.rewards import profile, weight_names

if TYPE_CHECKING:  # they are only known when the program runs
    AgentName = str
    Trainee = str
    PartName = str
else:
    AgentName = Literal[tuple(AGENTS)]
    Trainee = Literal[("all", *AGENTS)]
    _PROFILES = ("composite", "multi-objective")
    PartName = Literal[tuple(sorted({name for each in _PROFILES for name in weight_names(profile(each))}))]
