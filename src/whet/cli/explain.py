"""whet explain: why a decision was made, and what came of it."""

from pathlib import Path

import click

from whet.agents.catalogue import agent_named
from whet.bootstrap.site import open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say, table
from whet.core.errors import WhetError
from whet.core.ports import Store
from whet.core.records import Decision, Experience
from whet.core.text import printable
from whet.reports.compose import read_outcome, why
from whet.reports.highlights import highlights
from whet.reports.recalled import looked_up
from whet.reports.words import percent


@click.command()
@click.argument("decision", required=False)
@project_option()
@click.option("--limit", default=12, show_default=True, help="How many decisions to list when none is named.")
@format_option()
def explain(decision: str | None, project: Path, limit: int, form: str) -> None:
    """Explain DECISION (an id or its beginning); without one, list the latest.

    Shows the state, every alternative with its value, where that value comes from, the
    confidence, whether it was an exploration, and what came of it.
    """
    site = open_site(project)
    require_visit(site)
    with site.store() as store:
        if decision is None:
            _list(store.decisions.recent(limit=limit), form)
            return
        found, state = _find(store, decision)
        found = found.model_copy(update={"memories": looked_up(found.memories, store.memories)})
        experience = store.experiences.of_decision(found.id)
    if form == "json":
        dump(_as_json(found, state, experience))
        return
    _tell(found, state, experience)


def _find(store: Store, prefix: str) -> tuple[Decision, dict[str, object]]:
    found = store.decisions.find(prefix)
    if not found:
        raise WhetError(f"There is no decision {printable(prefix)!r}.", "List them with: whet explain")
    if len(found) > 1:
        raise WhetError(f"{len(found)} decisions begin with {prefix!r}.", "Give more of the id.")
    return found[0]


def _list(decisions: list[Decision], form: str) -> None:
    if form == "json":
        dump([d.model_dump(mode="json") for d in decisions])
        return
    rows = [(d.id[:8], f"{d.at:%m-%d %H:%M}", d.agent, d.action, percent(d.confidence), why(d)) for d in decisions]
    table("Latest decisions", ("id", "when (UTC)", "agent", "action", "confidence", "why"), rows)
    say("\nMore about one: whet explain ID")


def _as_json(decision: Decision, state: dict[str, object], experience: Experience | None) -> dict[str, object]:
    return {
        "decision": decision.model_dump(mode="json"),
        "why": why(decision),
        "state": state,
        "experience": None if experience is None else experience.model_dump(mode="json", exclude={"decision"}),
    }


def _tell(decision: Decision, state: dict[str, object], experience: Experience | None) -> None:
    summary = agent_named(decision.agent).action(decision.action).summary
    say(f"Decision {decision.id}\n{decision.agent} ran {decision.action}: {summary}.")
    say(f"Why: {why(decision)}.")
    say(
        f"Confidence {percent(decision.confidence)} that the proposal ({decision.proposed}) is within 5 % of the best; "
        f"chance of this action here {decision.probability:.1%}; "
        f"{'an exploration' if decision.explored else 'not an exploration'}; policy {decision.policy_version}; "
        f"review {decision.review}.\n"
    )
    table(
        "What was seen", ("feature", "value"), [(name, value) for name, value in state.items() if name != "situation"]
    )
    rows = [
        (a.action, a.value, a.uncertainty, a.visits, a.source, f"{a.probability:.1%}", percent(a.confidence))
        for a in sorted(decision.alternatives, key=lambda a: -1e9 if a.value is None else -a.value)
    ]
    say("")
    table(
        "What could be done",
        ("action", "expected reward", "± standard error", "visits", "table", "chance", "within 5 % of best"),
        rows,
    )
    say("")
    _tell_memories(decision)
    _tell_outcome(experience)


def _tell_memories(decision: Decision) -> None:
    if decision.memories:
        rows = [(m.memory[:8], percent(m.weight), m.why, printable(m.text, 100)) for m in decision.memories]
        table("What it was reminded by", ("memory", "share", "why", "what it says"), rows)
        say("")


def _tell_outcome(experience: Experience | None) -> None:
    if experience is None:
        say("What came of it: not known; the run ended before the action did.")
        return
    outcome = read_outcome(experience)
    measured = experience.outcome if outcome is None else highlights(outcome)
    table("What came of it", ("measured", "value"), list(measured.items()))
    reward = experience.reward
    say(f"\nReward: raw {reward.raw:+.2f}, shaped {reward.shaped:+.2f}, credited {reward.credited:+.2f}")
    rows = [(p.name, p.points, p.weight, p.because) for p in reward.parts]
    table(f"Parts ({reward.profile})", ("part", "points", "weight", "because"), rows)
