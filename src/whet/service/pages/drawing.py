"""From what is known to a page: templates, words for numbers, and what every page has around it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse, Response

from whet.core.people import Role
from whet.core.text import printable, printable_lines
from whet.reports import words
from whet.service.access import form_token
from whet.service.desk import desk_of
from whet.service.pages import charts

# Where to go, in the order of what people ask: how is it, what did it do, does it learn, what does it cost.
NAVIGATION = (
    ("", (("/", "Overview"),)),
    ("Work", (("/runs", "Runs"), ("/findings", "Findings"), ("/decisions", "Decisions"), ("/review", "Review"))),
    ("Learning", (("/learning", "Learning"), ("/models", "Models"), ("/experiments", "Experiments"))),
    ("Steering", (("/rewards", "Rewards"), ("/memory", "Memory"), ("/resources", "Resources"), ("/audit", "Audit"))),
)
_MOST_WAITING = 99
# What a page says after a form. Sentences of our own: a link must not make a page say anything.
SAID = {
    "marked": "Your mark is kept. The reward of the runs behind this finding follows it.",
    "unmarked": "Your mark is taken back, and with it what it changed.",
    "rated": "Your rating is kept. The rewards of this run follow it.",
    "approved": "Approved: from now on the proposed action runs in this state.",
    "overridden": "Overridden: from now on the action you chose runs in this state.",
    "revoked": "Taken back: the fleet decides for itself in this state again.",
    "promoted": "It is in production now.",
    "rolled-back": "It is out of use; whoever decided before it decides again.",
    "paused": "It stays where it is until you let it go on.",
    "resumed": "It goes on.",
    "rules-saved": "The new weights hold from the next run on.",
    "rules-dropped": "The weights of the settings hold again.",
    "forgotten": "It is forgotten, everywhere.",
    "pinned": "It is pinned: it will not be forgotten by itself.",
    "unpinned": "It is not pinned any more.",
}


def page(request: Request, template: str, title: str, status: int = 200, **told: Any) -> Response:
    """A whole page. Everything live says which moment it shows, so that the script knows when it is old."""
    desk, person = desk_of(request), request.state.known.person
    waiting = desk.store.views.waiting(limit=_MOST_WAITING)
    around = {
        "title": title,
        "path": request.url.path,
        "person": person,
        "may": {role.value: person.role.may(role) for role in Role},
        "csrf": form_token(request),
        "head": desk.store.views.head(),
        "project": desk.site.project.name,
        "waiting_count": len(waiting.items),
        "now": desk.clock(),
        "said": SAID.get(request.query_params.get("said", "")),
    }
    return HTMLResponse(_environment().get_template(template).render(request=request, **around, **told), status)


def bare(template: str, status: int, **told: Any) -> Response:
    """A page for somebody who is not known: no navigation, nothing of the project."""
    return HTMLResponse(_environment().get_template(template).render(**told), status)


def back(path: str, said: str) -> Response:
    """After a form: back to a page that says what was done. Loading it again does nothing twice."""
    return RedirectResponse(f"{path}?{urlencode({'said': said})}", 303)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("whet.service.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "shown": printable,
        "lines": printable_lines,
        "seconds": words.seconds,
        "percent": words.percent,
        "points": words.points,
        "moment": moment,
        "number": number,
        "or_unknown": or_unknown,
        "measured": measured,
        "older": _older,
    }
    made.globals |= {"charts": charts, "words": words, "navigation": NAVIGATION}
    return made


def moment(at: datetime | None) -> Markup:
    if at is None:
        return or_unknown(None)
    utc = at.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(utc.isoformat(), f"{utc:%Y-%m-%d %H:%M}")


def number(value: float | None, form: str = ",.1f") -> Markup:
    return or_unknown(None) if value is None else Markup("{}").format(format(value, form))


def or_unknown(value: object) -> Markup:
    if value is None:
        return Markup('<span class="unknown">unknown</span>')
    return Markup("{}").format(printable(str(value)))


def measured(value: object) -> Markup:
    """Numbers as people read them: seventeen digits say nothing that four do not."""
    if isinstance(value, float):
        return Markup("{}").format(f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}")
    return or_unknown({True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value)


def _older(request: Request, before: int, **changes: Any) -> str:
    """The address of the next, older part of this list."""
    kept: Mapping[str, str] = {name: value for name, value in request.query_params.items() if name != "said"}
    return f"{request.url.path}?{urlencode({**kept, 'before': before, **changes})}"
