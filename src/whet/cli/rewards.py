"""whet rewards: what outcomes are worth, and what other weights would have made of them."""

from pathlib import Path
from typing import Any

import click

from whet.agents.catalogue import agent_named
from whet.bootstrap.assembly import valuing
from whet.bootstrap.site import open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say, table
from whet.core.errors import WhetError
from whet.core.records import Experience, Outcome
from whet.reports.compose import read_outcome
from whet.rewards import Profile, known_weights, profile, reward_of, weight_names


@click.group()
def rewards() -> None:
    """What outcomes are worth."""


@rewards.command()
@project_option()
@click.option("--weight", "weights", multiple=True, metavar="PART=NUMBER", help="Another weight; may be repeated.")
@click.option("--profile", "other", type=click.Choice(["composite", "multi-objective"]), help="Another profile.")
@click.option("--limit", default=200, show_default=True, help="How many past outcomes, newest first.")
@format_option()
def preview(project: Path, weights: tuple[str, ...], other: str | None, limit: int, form: str) -> None:
    """What other weights or another profile would have made of past outcomes. Changes nothing.

    \b
      whet rewards preview --weight execution_speed=0.5
      whet rewards preview --profile composite
    To keep them: [tool.whet.rewards.weights] in pyproject.toml.
    """
    site = open_site(project)
    require_visit(site)
    now = valuing(site.settings)
    then = now.profile if other is None else profile(other)
    asked = {**now.weights, **_parsed(weights, then)}
    with site.store() as store:
        lived = store.experiences.recent(limit=limit)
    readable = [(e, o) for e in lived if (o := read_outcome(e)) is not None]
    if len(readable) < len(lived):
        click.echo(f"{len(lived) - len(readable)} outcome(s) of another version of Whet are left out.", err=True)
    rows = [_row(e, o, now.profile, dict(now.weights), then, asked) for e, o in readable]
    if form == "json":
        dump(rows)
        return
    _tell(rows)


def _parsed(weights: tuple[str, ...], of: Profile) -> dict[str, float]:
    given: dict[str, float] = {}
    for text in weights:
        name, _, number = text.partition("=")
        try:
            given[name] = float(number)
        except ValueError as error:
            raise WhetError(
                f"--weight {text!r} is not PART=NUMBER.", "For example: --weight coverage_gain=0.5"
            ) from error
    return known_weights(given, weight_names(of))


def _row(
    experience: Experience,
    outcome: Outcome,
    now: Profile,
    weights: dict[str, float],
    then: Profile,
    asked: dict[str, float],
) -> dict[str, Any]:
    """Valued anew from the stored state and outcome, so that both columns are made by the same code."""
    agent = agent_named(experience.agent)
    state = agent.state_type.model_validate(experience.state)
    action = agent.action(experience.decision.action)
    valuation = agent.value(state, action, outcome)
    return {
        "decision": experience.decision.id,
        "agent": experience.agent,
        "action": action.name,
        "now": reward_of(now, valuation, weights).raw,
        "then": reward_of(then, valuation, asked).raw,
    }


def _tell(rows: list[dict[str, Any]]) -> None:
    if not rows:
        say("There are no outcomes yet. Make some: whet run")
        return
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        grouped.setdefault((row["agent"], row["action"]), []).append(row)
    means = [
        (agent, action, len(found), _mean(found, "now"), _mean(found, "then"))
        for (agent, action), found in sorted(grouped.items())
    ]
    table("Mean raw reward of past outcomes", ("agent", "action", "outcomes", "as weighted now", "as asked"), means)
    changed = sorted(agent for agent in {m[0] for m in means} if _best(means, agent, 3) != _best(means, agent, 4))
    for agent in changed:
        say(f"{agent}: the best past action would be {_best(means, agent, 4)} instead of {_best(means, agent, 3)}.")
    if not changed:
        say("No agent's best past action would change.")


def _best(means: list[tuple[str, str, int, float, float]], agent: str, column: int) -> str:
    return max((m for m in means if m[0] == agent), key=lambda m: float(m[column]))[1]


def _mean(rows: list[dict[str, Any]], key: str) -> float:
    return float(sum(row[key] for row in rows) / len(rows))
