"""What outcomes are worth: weights, with what they would have made of past outcomes before anything is saved."""

from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from whet.bootstrap.assembly import valuing
from whet.bootstrap.revaluing import Rules, best_changes, compared, revalued, rules_of
from whet.core.errors import RefusedInput
from whet.rewards import PROFILES, Profile, known_weights, profile, weight_names
from whet.service.desk import Desk, desk_of
from whet.service.pages.asking import Operator, Viewer
from whet.service.pages.drawing import back, page
from whet.service.problems import Refused

router = APIRouter()
PAST = 200  # outcomes, newest first
_PREFIX = "weight."


@router.get("/rewards")
def rewards(
    request: Request,
    _person: Viewer,
    chosen: Annotated[Literal["", "composite", "multi-objective"], Query(alias="profile")] = "",
) -> Response:
    """With weights in the address it is a preview; nothing is changed by looking."""
    desk = desk_of(request)
    now = rules_of(valuing(desk.settings))
    of = profile(chosen) if chosen else now.profile
    asked = asked_weights(request.query_params, of)
    then = Rules(of, _in_force(now, of) | asked)
    lived = desk.store.experiences.recent(limit=PAST)
    rows = revalued(lived, now, then)
    means = compared(rows)
    return page(
        request,
        "rewards.html.j2",
        "Rewards",
        profile=of,
        profiles=sorted(PROFILES),
        weights={name: then.weights.get(name, of.weights.get(name, 1.0)) for name in weight_names(of)},
        own=of.weights,
        shipped={name: of.weights.get(name, 1.0) for name in weight_names(of)},
        changed=_told(now) != _told(then),
        means=means,
        largest=max((abs(value) for mean in means for value in (mean.now, mean.then)), default=0.0),
        best=best_changes(means),
        outcomes=len(rows),
        left_out=len(lived) - len(rows),
        rules=desk.store.feedback.rules(),
    )


@router.post("/rewards")
async def save(request: Request, person: Operator) -> Response:
    form = await request.form()
    told = {name: value for name, value in form.items() if isinstance(value, str)}
    if told.get("profile") not in PROFILES:
        raise Refused(422, "There is no such reward profile.", f"Choose one of: {', '.join(sorted(PROFILES))}.")
    of = profile(told["profile"])
    _save(desk_of(request), of, asked_weights(told, of), person.name)
    return back("/rewards", "rules-saved")


@router.post("/rewards/drop")
def drop(request: Request, person: Operator) -> Response:
    desk = desk_of(request)
    desk.store.feedback.drop_rules(person.name)
    desk.site.obey(None)
    return back("/rewards", "rules-dropped")


def asked_weights(told: Mapping[str, str], of: Profile) -> dict[str, float]:
    """Those that differ from what the profile ships with; refused unless each is a number from 0 to 10."""
    given: dict[str, float] = {}
    for field, text in told.items():
        if field.startswith(_PREFIX):
            name = field.removeprefix(_PREFIX)
            try:
                given[name] = float(text)
            except ValueError:
                raise RefusedInput(f"The weight of {name[:40]!r} is not a number.", "Give one from 0 to 10.") from None
    return {
        name: value
        for name, value in known_weights(given, weight_names(of)).items()
        if value != of.weights.get(name, 1.0)
    }


def _save(desk: Desk, of: Profile, weights: Mapping[str, float], by: str) -> None:
    desk.site.obey(desk.store.feedback.set_rules(of.name, weights, by))


def _in_force(now: Rules, of: Profile) -> dict[str, float]:
    """Weights in force that the other profile has too."""
    return {name: weight for name, weight in now.weights.items() if name in weight_names(of)}


def _told(rules: Rules) -> tuple[str, dict[str, float]]:
    own = rules.profile.weights
    return rules.profile.name, {name: weight for name, weight in rules.weights.items() if weight != own.get(name, 1.0)}
