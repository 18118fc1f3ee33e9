"""whet eval: policies side by side on worlds."""

from pathlib import Path
from typing import Any

import click
import numpy as np

from whet.agents.catalogue import agent_named
from whet.bootstrap.assembly import schooling, valuing
from whet.bootstrap.site import open_site
from whet.cli.options import format_option, page_option, project_option
from whet.cli.output import dump, say, table
from whet.core.errors import WhetError
from whet.improvement.evaluation import Course, WorldReport, judge
from whet.improvement.reliability import chance_error, expected_error, pooled
from whet.improvement.world import World, load_all, shipped
from whet.policies.exploration import schedule
from whet.reports.curves import render_curves
from whet.settings.model import Settings

TARGET_ACCURACY, TARGET_GAIN = 0.85, 0.30


@click.command()
@click.argument("worlds", nargs=-1, type=click.Path(path_type=Path))
@project_option()
@click.option("--decisions", default=1000, show_default=True, help="How long each policy learns.")
@click.option("--seeds", default=5, show_default=True, help="How often, with different luck.")
@click.option("--agent", help="Only worlds of this agent.")
@page_option("Also write the learning curves as a page.")
@format_option()
def evaluate(
    worlds: tuple[Path, ...], project: Path, decisions: int, seeds: int, agent: str | None, html: Path | None, form: str
) -> None:
    """Replay policies on WORLDS (default: those shipped with Whet and those recorded in this project).

    Reports decision accuracy (share of decisions whose action's true mean reward is within 5 % of the
    best), regret, and the learning curve, against random choice, every static action, and the best
    static action in hindsight. Exit code 1 when the targets are missed on worlds not used for tuning.
    """
    if decisions < 100 or seeds < 1:
        raise WhetError("At least 100 decisions and 1 seed are needed.", "See: whet eval --help")
    site = open_site(project)
    chosen = of_agent(_gather(worlds, site.state_dir / "worlds"), agent)
    if not chosen:
        raise WhetError("There is no world to replay.", "Record one: whet record")
    reports = _judge(chosen, site.settings, decisions, seeds, quiet=form == "json")
    told = summary(reports, decisions, seeds)
    if html is not None:
        html.write_text(render_curves(told), encoding="utf-8")
    if form == "json":
        dump(told)
    else:
        _tell(told)
    raise SystemExit(0 if told["targets_met"] else 1)


def of_agent(worlds: list[World], agent: str | None) -> list[World]:
    """All of them where none is named; refused for one that does not exist."""
    return worlds if agent is None else [world for world in worlds if world.agent == agent_named(agent).name]


def _gather(paths: tuple[Path, ...], own: Path) -> list[World]:
    if paths:
        return load_all(paths)
    return shipped() + load_all(sorted(own.glob("*.json")))


def _judge(worlds: list[World], settings: Settings, decisions: int, seeds: int, quiet: bool) -> list[WorldReport]:
    q, how = settings.q_learning, valuing(settings)
    course = Course(
        decisions=decisions,
        seeds=seeds,
        rates=schooling(settings).rates,
        schedule=lambda: schedule(
            q.epsilon_strategy, q.initial_epsilon, q.min_epsilon, q.epsilon_decay, q.target_reward, q.reward_window
        ),
    )
    reports = []
    for number, world in enumerate(worlds, start=1):
        if not quiet:
            click.echo(f"{number}/{len(worlds)} {world.name}", err=True)
        reports.append(judge(world, how.profile, how.weights, course))
    return reports


def summary(reports: list[WorldReport], decisions: int, seeds: int) -> dict[str, Any]:
    """What counts is held out: worlds that no choice in the code was made with."""
    held_out = [r for r in reports if not r.used_for_tuning]
    judged = held_out or reports
    policies = [p.policy for p in judged[0].learned]
    default = policies[0]
    scores = {p: _mean([_of(r, p).accuracy for r in judged]) for p in policies}
    untrained = _mean([_of(r, default).untrained_accuracy for r in judged])
    gain = (scores[default] - untrained) / untrained if untrained else None
    together = pooled([_of(r, default).reliability for r in judged])
    return {
        "schema_version": 1,
        "decisions": decisions,
        "seeds": seeds,
        "held_out": bool(held_out),
        "policy": default,
        "decision_accuracy": scores[default],
        "success_gain_over_untrained": gain,
        "accuracy_by_policy": scores,
        "untrained_accuracy": untrained,
        "safe_default_accuracy": _mean([r.safe_default.accuracy for r in judged]),
        "random_accuracy": _mean([r.random.accuracy for r in judged]),
        "best_static_accuracy": _mean([r.best_static.accuracy for r in judged]),
        "calibration_error": expected_error(together),
        "chance_error": chance_error(together),
        "calibration_error_by_world": _mean([_of(r, default).calibration_error for r in judged]),
        "targets": {"decision_accuracy": TARGET_ACCURACY, "success_gain": TARGET_GAIN},
        "targets_met": scores[default] >= TARGET_ACCURACY and gain is not None and gain >= TARGET_GAIN,
        "worlds": [r.model_dump(mode="json") for r in reports],
    }


def confidence(told: dict[str, Any]) -> str:
    """Errors of opposite sign cancel over worlds; in one world, with its one or two states, chance does most of it."""
    return (
        f"Stated confidence is off by {told['calibration_error']:.3f} over all worlds together (chance alone would do "
        f"{told['chance_error']:.3f}), by {told['calibration_error_by_world']:.3f} in one world on average"
    )


def _of(report: WorldReport, policy: str) -> Any:
    return next(p for p in report.learned if p.policy == policy)


def _mean(values: list[float]) -> float:
    return float(np.mean(values))


def accuracy(policy: dict[str, Any]) -> str:
    width = policy["accuracy_half_width"]
    return f"{policy['accuracy']:.0%}" + ("" if width is None else f" ± {width:.0%}")


def _tell(told: dict[str, Any]) -> None:
    rows = [
        (
            w["world"] + (" (tuning)" if w["used_for_tuning"] else ""),
            w["states"],
            *(accuracy(p) for p in w["learned"]),
            f"{w['random']['accuracy']:.0%}",
            f"{w['safe_default']['accuracy']:.0%}",
            f"{w['best_static']['accuracy']:.0%}  {w['best_static']['policy']}",
            " / ".join(
                f"{reward:+.1f}"
                for reward in (
                    w["learned"][0]["mean_reward"],
                    w["best_static"]["mean_reward"],
                    w["best_possible_reward"],
                )
            ),
        )
        for w in told["worlds"]
    ]
    names = [p["policy"] for p in told["worlds"][0]["learned"]]
    columns = (
        "world",
        "states",
        *names,
        "random",
        "safe default",
        "best static in hindsight",
        "reward: learned / static / possible",
    )
    table(f"Decision accuracy after {told['decisions']} decisions, {told['seeds']} seeds", columns, rows)
    kind = "worlds not used for tuning" if told["held_out"] else "worlds (all used for tuning: no proof)"
    gain = told["success_gain_over_untrained"]
    say(
        f"\n{told['policy']} on {kind}: {told['decision_accuracy']:.1%} right (target {TARGET_ACCURACY:.0%}); "
        f"untrained {told['untrained_accuracy']:.1%}, random {told['random_accuracy']:.1%}, "
        f"safe default {told['safe_default_accuracy']:.1%}, "
        f"best static in hindsight {told['best_static_accuracy']:.1%}."
    )
    told_gain = "unknown" if gain is None else f"{gain:+.0%}"
    say(f"Success against the untrained policy: {told_gain} (target +{TARGET_GAIN:.0%}).")
    say(f"{confidence(told)}.")
    say("Targets met." if told["targets_met"] else "Targets missed: learning does not help enough here yet.")
