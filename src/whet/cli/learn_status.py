"""whet learn --status: what learning has, what it waits for, and whether it has settled. Changes nothing."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from whet.bootstrap.drifting import changes
from whet.bootstrap.learning import plan
from whet.bootstrap.site import Site
from whet.cli.output import dump, say, table
from whet.core.ports import Store
from whet.core.text import printable
from whet.improvement.convergence import Limits, convergence
from whet.improvement.intake.trigger import Rule, due
from whet.improvement.pace import paces

_NEWEST_REFUSED = 5
# Experiences that the pace of a project is read from.
_LATELY = 1000


def tell_status(site: Site, form: str) -> None:
    with site.store() as store:
        told = _status(site, store)
    if form == "json":
        dump(told)
        return
    counts = ", ".join(f"{number:,} {quality}" for quality, number in told["intake"].items() if number)
    say(f"Experiences judged: {counts or 'none yet'}")
    for each in told["refused"]:
        say(f"  refused {each['key']}: {printable(each['why'], 300)}")
    waiting = [(each["agent"], each["told"]) for each in told["waiting"]]
    _table("Waiting to be trained with", ("agent", "what for"), waiting, "nothing; whet learn takes in what is new")
    say("\nAt the pace of the last visits")
    for line in [f"{each['agent']}: {each['told']}" for each in told["pace"]] or ["unknown before the first whet run"]:
        say(f"  {line}")
    rows = [(c["agent"], c["converged"], c["advice"]) for c in told["convergence"]]
    _table("Has learning settled?", ("agent", "settled", "advice"), rows, "unknown before the first whet run")
    for each in told["drift"]:
        say(f"\nDrift: {printable(each, 300)}")


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], otherwise: str) -> None:
    """A title above nothing would leave people wondering."""
    if rows:
        table(f"\n{title}", columns, rows)
    else:
        say(f"\n{title}\n  {otherwise}")


def _status(site: Site, store: Store) -> dict[str, Any]:
    found, agents = changes(store), store.learning.agents_waiting()
    return {
        "intake": {quality.value: number for quality, number in store.learning.verdicts().items()},
        "refused": [
            {"key": each.key, "agent": each.agent, "quality": each.quality.value, "why": each.why}
            for each in store.learning.refused(_NEWEST_REFUSED)
        ],
        "waiting": [{"agent": agent, "told": _waiting(site, store, agent)} for agent in agents],
        "pace": _pace(site, store),
        "convergence": _convergence(site, store),
        "drift": [each.sentence for each in found.drifts],
        "exploration_reopened": sorted(found.reopened),
    }


def _waiting(site: Site, store: Store, agent: str) -> str:
    learn = site.settings.learn
    waiting, oldest = store.learning.waiting(agent)
    last = next(iter(store.learning.batches(agent)), None)
    closed = None if last is None else last.closed_at
    return due(waiting, oldest, closed, datetime.now(UTC), Rule(learn.min_experiences, learn.min_hours)).sentence


def _pace(site: Site, store: Store) -> list[dict[str, Any]]:
    learn, lived = site.settings.learn, store.experiences.recent(limit=_LATELY)
    waiting = {agent: store.learning.waiting(agent)[0] for agent in store.learning.agents_waiting()}
    found = paces(lived, waiting, Rule(learn.min_experiences, learn.min_hours), learn.holdout, plan(site.settings))
    return [{"agent": agent, "told": pace.sentence, **pace._asdict()} for agent, pace in found.items()]


def _convergence(site: Site, store: Store) -> list[dict[str, Any]]:
    asked = site.settings.convergence
    limits = Limits(
        asked.q_value_change_threshold,
        asked.reward_variance_threshold,
        asked.min_success_rate,
        asked.min_exploration_rate,
    )
    rows = store.runs.learning()
    agents = sorted({row["agent"] for row in rows})
    judged = [convergence(agent, [row for row in rows if row["agent"] == agent], limits) for agent in agents]
    return [
        {
            "agent": each.agent,
            "converged": each.converged,
            "advice": each.advice,
            "criteria": [criterion._asdict() for criterion in each.criteria],
        }
        for each in judged
    ]
