"""whet bench: which policy is worth using where."""

import tempfile
from pathlib import Path
from typing import Any

import click

from whet.bootstrap.site import Site, open_site
from whet.cli.evaluate import of_agent
from whet.cli.options import format_option, page_option, project_option
from whet.cli.output import dump, say, table
from whet.core.errors import WhetError
from whet.improvement.world import World, load_all, shipped
from whet.policies.deep.extra import TRAINING, require


@click.group()
def bench() -> None:
    """Comparisons that anybody can repeat."""


@bench.command()
@click.option(
    "--worlds",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Judge on these: files, or folders of them; may be given several times.",
)
@click.option("--agent", help="Only worlds of this agent.")
@click.option(
    "--seeds", type=click.IntRange(1, 100), default=5, show_default=True, help="How often, each trained anew."
)
@click.option("--decisions", type=click.IntRange(100, 100_000), default=300, show_default=True, help="In each life.")
@click.option(
    "--training-steps", type=click.IntRange(256, 10**7), default=3000, show_default=True, help="Of each deep policy."
)
@page_option("Also write a page with pictures.")
@project_option()
@format_option()
def policies(
    worlds: tuple[Path, ...],
    agent: str | None,
    seeds: int,
    decisions: int,
    training_steps: int,
    html: Path | None,
    project: Path,
    form: str,
) -> None:
    """Tables, Thompson sampling, DQN and PPO on the same worlds and seeds.

    \b
    Judged on WORLDS (default: those that come with Whet and were not used for tuning); the deep
    policies are trained on those used for tuning. A decision is right when its action's true mean
    reward is within 5 % of the best. Bands are 95 % intervals, over worlds.
    """
    require("Comparing deep policies", TRAINING)
    site = open_site(project)
    judged = of_agent(_judged(worlds), agent)
    if not judged:
        raise WhetError("There is no world to judge on.", "Record one: whet record; give it with --worlds.")
    told = _contest(site, judged, seeds, decisions, training_steps, quiet=form == "json")
    if html is not None:
        from whet.reports.policy_contest import render_contest

        html.write_text(render_contest(told), encoding="utf-8")
    if form == "json":
        dump(told)
    else:
        _tell(told)


def _judged(paths: tuple[Path, ...]) -> list[World]:
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    return load_all(files) if paths else [world for world in shipped() if not world.used_for_tuning]


def _contest(
    site: Site, judged: list[World], seeds: int, decisions: int, training_steps: int, quiet: bool
) -> dict[str, Any]:
    from whet.bootstrap.assembly import valuing
    from whet.bootstrap.contest import course_of, verdict
    from whet.improvement.contest import Rules, contest

    names = {world.name for world in judged}
    training = [world for world in shipped() if world.used_for_tuning and world.name not in names]
    how, reports = valuing(site.settings), []
    with tempfile.TemporaryDirectory(prefix="whet-bench-") as folder:
        course = course_of(site.settings, decisions, seeds)
        rules = Rules(how.profile, how.weights, course, training_steps, Path(folder))
        for number, report in enumerate(contest(training, judged, rules), start=1):
            reports.append(report)
            if not quiet:
                click.echo(f"{number}/{len(judged)} {report.world}", err=True)
    return {**verdict(reports), "decisions": decisions, "seeds": seeds, "training_steps": training_steps}


def share(told: dict[str, Any]) -> str:
    width = told["half_width"]
    return f"{told['share']:.1%}" + ("" if width is None else f" ± {width:.1%}")


def _tell(told: dict[str, Any]) -> None:
    rows = [
        (
            p["policy"],
            share(p["whole"]),
            "" if p["against_default"] is None else share(p["against_default"]),
            share(p["at_first"]),
            share(p["at_last"]),
            f"{p['calibration_error']:.3f}",
            f"{p['chance_error']:.3f}",
            f"{p['decisions']:,}",
        )
        for p in told["policies"]
    ]
    rows += [(b["policy"], share(b["whole"]), "", "", "", "", "", "") for b in told["baselines"]]
    columns = (
        "policy", "right, of all", f"against {told['default']}", "at first", "at last", "calibration error",
        "by chance", "decisions",
    )  # fmt: skip
    lives = f"{told['decisions']} decisions in each of {len(told['worlds'])} worlds, {told['seeds']} seeds"
    table(f"Right decisions: {lives}", columns, rows)
    _tell_worlds(told)
    for line in told["says"]:
        say(line)


def _tell_worlds(told: dict[str, Any]) -> None:
    """A world has one or two states: few facts, however many decisions, so that chance alone does much."""
    names = [p["policy"] for p in told["policies"]]
    rows = []
    for world in told["worlds"]:
        errors = {p["policy"]: f"{p['calibration_error']:.3f} ({p['chance_error']:.3f})" for p in world["learned"]}
        rows.append((world["world"], world["states"], *(errors.get(name, "") for name in names)))
    each = f"{told['decisions'] * told['seeds']:,} decisions each"
    table(
        f"Calibration error (that of a perfectly calibrated policy, by chance): {each}",
        ("world", "states", *names),
        rows,
    )
