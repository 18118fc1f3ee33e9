"""What the user asked for, read from pytest's options."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)")
# Where these are used, the user has said which tests come first; where one test's place depends on the
# order of the last run, another order would break the promise.
_OWN_WISHES = {"failedfirst": "--ff", "newfirst": "--nf", "stepwise": "--sw"}


class Wishes(NamedTuple):
    budget_seconds: float | None = None
    risk: float | None = None
    shadow: bool = False
    strict_quarantine: bool = False
    map: str = "auto"
    own_order: str | None = None  # the option by which the user orders the tests


def wishes(config: pytest.Config) -> Wishes:
    """Refuses what cannot be meant with pytest's own usage error."""
    option = config.option
    budget, risk = option.whet_budget, option.whet_risk
    if budget and risk:
        raise pytest.UsageError("--whet-budget and --whet-risk both choose the tests. Give one of them.")
    return Wishes(
        budget_seconds=seconds(budget) if budget else None,
        risk=share(risk) if risk else None,
        shadow=bool(option.whet_shadow),
        strict_quarantine=bool(option.whet_strict_quarantine),
        map=option.whet_map or "auto",
        own_order=next((name for key, name in _OWN_WISHES.items() if getattr(option, key, False)), None),
    )


def seconds(text: str) -> float:
    found = _TIME.fullmatch(text.strip().lower())
    if found is None or found[2] not in _UNITS or float(found[1]) <= 0:
        raise pytest.UsageError(f"--whet-budget {text} is no time. Write 90s, 5m or 1h; a plain number is seconds.")
    return float(found[1]) * _UNITS[found[2]]


def share(text: str) -> float:
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        value = -1.0
    value = value / 100 if text.strip().endswith("%") else value
    if not 0.0 < value < 1.0:
        raise pytest.UsageError(f"--whet-risk {text} is no share between 0 and 1. Write 5% or 0.05.")
    return value


def narrowed(config: pytest.Config) -> bool:
    """Whether the user picked tests, so that what was collected is not the whole suite."""
    option = config.option
    picked = ("keyword", "markexpr", "deselect", "lf", "stepwise", "ignore", "ignore_glob")
    if any(getattr(option, name, None) for name in picked):
        return True
    return any("::" in argument or argument.endswith(".py") for argument in config.args)


def args_were_given(config: pytest.Config) -> bool:
    """Whether the command line says where to look, rather than pytest's settings; or it was started further down."""
    here = config.invocation_params.dir != config.rootpath and not config.getini("testpaths")
    return here or config.args_source is pytest.Config.ArgsSource.ARGS
