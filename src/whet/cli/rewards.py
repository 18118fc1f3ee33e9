"""whet rewards: what outcomes are worth, and what other weights would have made of them."""

from pathlib import Path

import click

from whet.bootstrap.assembly import valuing
from whet.bootstrap.revaluing import Revalued, Rules, best_changes, compared, revalued, rules_of
from whet.bootstrap.site import open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say, table
from whet.core.errors import WhetError
from whet.rewards import Profile, known_weights, profile, weight_names


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
    with site.store() as store:
        lived = store.experiences.recent(limit=limit)
    now = valuing(site.settings)
    then = now.profile if other is None else profile(other)
    asked = {**now.weights, **_parsed(weights, then)}
    rows = revalued(lived, rules_of(now), Rules(then, asked))
    if len(rows) < len(lived):
        click.echo(f"{len(lived) - len(rows)} outcome(s) of another version of Whet are left out.", err=True)
    if form == "json":
        dump([row._asdict() for row in rows])
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


def _tell(rows: list[Revalued]) -> None:
    if not rows:
        say("There are no outcomes yet. Make some: whet run")
        return
    means = compared(rows)
    columns = ("agent", "action", "outcomes", "as weighted now", "as asked")
    table("Mean raw reward of past outcomes", columns, [tuple(mean) for mean in means])
    changed = best_changes(means)
    for agent, now, then in changed:
        say(f"{agent}: the best past action would be {then} instead of {now}.")
    if not changed:
        say("No agent's best past action would change.")
