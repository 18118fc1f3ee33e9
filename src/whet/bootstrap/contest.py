"""What a contest of policies comes to, in numbers and in words."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from whet.bootstrap.assembly import schooling
from whet.improvement.contest import DEEP, Share, against, standing
from whet.improvement.evaluation import Course, WorldReport, half_width
from whet.policies.exploration import schedule
from whet.settings.model import Settings

DEFAULT = "thompson"
FAR = 2.0  # a mean deviation is exceeded twofold about once in ten by chance


def course_of(settings: Settings, decisions: int, seeds: int) -> Course:
    q = settings.q_learning
    return Course(
        decisions=decisions,
        seeds=seeds,
        rates=schooling(settings).rates,
        schedule=lambda: schedule(
            q.epsilon_strategy, q.initial_epsilon, q.min_epsilon, q.epsilon_decay, q.target_reward, q.reward_window
        ),
    )


def verdict(reports: Sequence[WorldReport]) -> dict[str, Any]:
    """The default is what wins: another policy must be right more often than it, by more than chance."""
    names = list(dict.fromkeys(each.policy for report in reports for each in report.learned))
    return {
        "schema_version": 1,
        "default": DEFAULT,
        "held_out": not any(report.used_for_tuning for report in reports),
        "policies": [_policy(name, reports) for name in names],
        "baselines": _baselines(reports),
        "says": _says(names, reports),
        "worlds": [report.model_dump(mode="json") for report in reports],
    }


def _policy(name: str, reports: Sequence[WorldReport]) -> dict[str, Any]:
    told = None if name == DEFAULT else against(DEFAULT, name, reports).model_dump(mode="json")
    return {**standing(name, reports).model_dump(mode="json"), "against_default": told}


def _baselines(reports: Sequence[WorldReport]) -> list[dict[str, Any]]:
    found = {
        "safe default": [report.safe_default.accuracy for report in reports],
        "best static in hindsight": [report.best_static.accuracy for report in reports],
        "random": [report.random.accuracy for report in reports],
    }
    return [
        {"policy": name, "whole": {"share": float(np.mean(shares)), "half_width": half_width(np.array(shares))}}
        for name, shares in found.items()
    ]


def _says(names: Sequence[str], reports: Sequence[WorldReport]) -> list[str]:
    honesty = [f"{name}: {_honesty(name, reports)}." for name in names]
    rivals = {name: against(DEFAULT, name, reports) for name in names if name != DEFAULT}
    lines = [f"{name}: {_word(told)}." for name, told in rivals.items()]
    for agent in sorted({report.agent for report in reports}):
        own = [report for report in reports if report.agent == agent]
        lives = {name: float(np.mean(_lives(name, own))) for name in names if _lives(name, own)}
        best = max(lives, key=lambda name: lives[name])
        other = "" if best == DEFAULT else f"; {DEFAULT} {lives[DEFAULT]:.1%}"
        lines.append(f"{agent}: {best} was right most often ({lives[best]:.1%}{other}; {len(own)} world(s)).")
    winners = [name for name, told in rivals.items() if told.shown and told.share > 0]
    deep = [name for name in winners if name in DEEP]
    told = (
        f"{' and '.join(deep)} did better than chance explains"
        if deep
        else "no deep policy has been shown to be better"
    )
    return [*lines, *honesty, f"The default is {DEFAULT}: {told}."]


def _honesty(name: str, reports: Sequence[WorldReport]) -> str:
    """World by world there are few facts: an error says something only where it is well above what chance does."""
    told = standing(name, reports)
    worlds = [(r.world, each) for r in reports for each in r.learned if each.policy == name]
    off = [world for world, each in worlds if each.calibration_error > FAR * each.chance_error]
    where = ", ".join(off) if off else "no world"
    return (
        f"confidence is off by {told.calibration_error:.3f} over {told.decisions:,} decisions (by chance alone, "
        f"perfectly calibrated: {told.chance_error:.3f}); by more than {FAR:.0f} times what chance does in {where}"
    )


def _lives(name: str, reports: Sequence[WorldReport]) -> list[float]:
    return [each.whole_accuracy for report in reports for each in report.learned if each.policy == name]


def _word(told: Share) -> str:
    if told.half_width is None:
        return f"{told.share:+.1%} right decisions against {DEFAULT}; one world alone shows nothing"
    apart = f"{told.share:+.1%} ± {told.half_width:.1%} right decisions against {DEFAULT}"
    if not told.shown:
        return f"{apart}: no difference shown"
    return f"{apart}: {'better' if told.share > 0 else 'worse'}"
