"""What can be read without asking anything: the last run, and where each agent's policy stands."""

from typing import Any

from whet.bootstrap.site import Site
from whet.core.candidates import Candidate, Stage
from whet.core.ports import Scope, Store
from whet.mcp.answers import NOT_VISITED
from whet.mcp.quoting import sentence
from whet.mcp.telling import told_run

_STANDING = frozenset({Stage.PROVEN, Stage.CANARY, Stage.PRODUCTION})
_LATELY = 100


def last_run(site: Site) -> dict[str, Any]:
    if not site.visited:
        return {"run": None, "note": NOT_VISITED}
    with site.store() as store:
        run = next(iter(store.runs.recent(1)), None)
        return {"run": None if run is None else told_run(store, run).model_dump(mode="json")}


def policies(site: Site) -> dict[str, Any]:
    if not site.visited:
        return {"agents": [], "candidates": [], "note": NOT_VISITED}
    with site.store() as store:
        owners = [owner for scope, owner in store.tables.owners() if scope is Scope.INDIVIDUAL]
        standing = [_candidate(each) for each in store.candidates.all() if each.stage in _STANDING]
        return {
            "agents": [_agent(store, owner) for owner in owners],
            "candidates": standing,
            "waiting_for_review": len(store.decisions.pending()),
        }


def _agent(store: Store, name: str) -> dict[str, Any]:
    rewards = [experience.reward.raw for experience in store.experiences.recent(name, _LATELY)]
    return {
        "agent": name,
        "decisions": store.decisions.count(name),
        "experiences": store.experiences.count(name),
        "mean_reward_lately": sum(rewards) / len(rewards) if rewards else None,
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "number": candidate.number,
        "agent": candidate.agent,
        "kind": candidate.kind,
        "stage": candidate.stage.value,
        "share": candidate.share,
        "paused": candidate.paused,
        "why": sentence(candidate.why),
    }
