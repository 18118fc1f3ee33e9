"""All agents. A new agent is one file beside this one, and one line here."""

from typing import Any

from whet.agents.commander import Commander
from whet.agents.contracts import ContractValidator
from whet.agents.coverage import CoverageAnalyzer
from whet.agents.data import DataArchitect
from whet.agents.executor import Executor
from whet.agents.flaky import FlakyHunter
from whet.agents.risk import RiskAnalyzer
from whet.core.agent import Agent
from whet.core.errors import WhetError

AnyAgent = Agent[Any, Any, Any]

# In the order in which they run while nothing is known: each builds on what the ones before it measured.
SPECIALISTS: tuple[AnyAgent, ...] = (
    Executor(),
    CoverageAnalyzer(),
    FlakyHunter(),
    RiskAnalyzer(),
    ContractValidator(),
    DataArchitect(),
)
# They take part where there is a service; a project without one has a crew without them.
FOR_SERVICES = frozenset({ContractValidator.name, DataArchitect.name})
COMMANDER = Commander(crew=[agent.name for agent in SPECIALISTS])
AGENTS: dict[str, AnyAgent] = {agent.name: agent for agent in (*SPECIALISTS, COMMANDER)}


def agent_named(name: str) -> AnyAgent:
    if name not in AGENTS:
        raise WhetError(f"There is no agent {name!r}.", f"The agents are: {', '.join(AGENTS)}.")
    return AGENTS[name]
