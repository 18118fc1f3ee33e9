"""whet status: what the fleet knows of this project and how well it does."""

from pathlib import Path
from typing import Any

import click

from whet.bootstrap.site import open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say, table
from whet.core.ports import RunRecord, Scope, Store


@click.command()
@project_option()
@format_option()
def status(project: Path, form: str) -> None:
    """Visits, what each agent has learned, findings, and what waits for you."""
    site = open_site(project)
    require_visit(site)
    with site.store() as store:
        told = _gather(store)
    if form == "json":
        dump(told)
        return
    _tell(told)


def _gather(store: Store) -> dict[str, Any]:
    runs = store.runs.recent(20)
    return {
        "visits": [_visit(store, run) for run in runs],
        "agents": [_agent(store, owner) for scope, owner in store.tables.owners() if scope is Scope.INDIVIDUAL],
        "experiences": store.experiences.count(),
        "decisions": store.decisions.count(),
        "waiting_for_review": len(store.decisions.pending()),
        "open_findings": _kinds(store, runs),
    }


def _visit(store: Store, run: RunRecord) -> dict[str, Any]:
    lived = store.experiences.recent(limit=1000, run_id=run.id)
    return {
        "run_id": run.id,
        "started_at": run.started_at.isoformat(),
        "status": run.status,
        "used_seconds": run.summary.get("used_seconds"),
        "turns": len(lived),
        "reward": sum(e.reward.credited for e in lived) if lived else None,
        "findings": len(store.runs.findings(run.id)),
    }


def _agent(store: Store, name: str) -> dict[str, Any]:
    lived = store.experiences.recent(name, 1000)
    rewards = [e.reward.raw for e in lived]
    return {
        "agent": name,
        "decisions": store.decisions.count(name),
        "experiences": store.experiences.count(name),
        "mean_reward": sum(rewards) / len(rewards) if rewards else None,
        "newest_reward": rewards[0] if rewards else None,
        "states_met": len({e.state_key for e in lived}),
        "explored": sum(e.decision.explored for e in lived) / len(lived) if lived else None,
    }


def _kinds(store: Store, runs: list[RunRecord]) -> dict[str, int]:
    """Findings of the newest visit, by kind; empty before the first."""
    counted: dict[str, int] = {}
    for finding in store.runs.findings(runs[0].id) if runs else ():
        counted[finding.kind] = counted.get(finding.kind, 0) + 1
    return counted


def _tell(told: dict[str, Any]) -> None:
    visits = [
        (v["started_at"][:16].replace("T", " "), v["status"], v["turns"], v["used_seconds"], v["reward"], v["findings"])
        for v in told["visits"]
    ]
    table("Visits, newest first", ("started (UTC)", "status", "turns", "seconds", "reward", "findings"), visits)
    say("")
    agents = [
        (a["agent"], a["experiences"], a["mean_reward"], a["newest_reward"], a["states_met"], a["explored"])
        for a in told["agents"]
    ]
    columns = ("agent", "experiences", "mean reward", "newest reward", "states met", "explored share")
    table("What each agent has learned", columns, agents)
    found = ", ".join(f"{count} {kind}" for kind, count in sorted(told["open_findings"].items())) or "none"
    say(f"\nFindings of the newest visit: {found}.")
    if told["waiting_for_review"]:
        say(f"{told['waiting_for_review']} decision(s) wait for you: whet review")
