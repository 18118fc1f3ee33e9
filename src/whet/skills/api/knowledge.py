"""What a run leaves to the next one on the same service: beliefs, requests that worked, faults, the contract.

One JSON document per service. What cannot be read any more (another format, an operation that is gone) is left out:
a run without it starts as a first run does.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from whet.skills.api.contract.model import Contract, Json
from whet.skills.api.explorer import Explorer
from whet.skills.api.faults import Fault, Kind, Suspicion
from whet.skills.api.learning import kept
from whet.skills.api.learning.drafting import Made
from whet.skills.api.learning.portable import pack_draft, pack_exchange, unpack_draft, unpack_exchange
from whet.skills.api.learning.trail import WORKS
from whet.skills.api.learning.trail_kept import pack_trail, restore_trail
from whet.skills.api.values.slots import Source

FORMAT = 1
_KINDS, _SOURCES = frozenset(Kind), frozenset(Source)


@dataclass(frozen=True, slots=True)
class Knowledge:
    runs: int = 0
    document: Mapping[str, Json] | None = None  # the contract as it was read then
    beliefs: Mapping[str, Any] = field(default_factory=dict)
    recipes: Mapping[str, list[Any]] = field(default_factory=dict)
    hints: Mapping[str, list[list[str]]] = field(default_factory=dict)
    faults: tuple[Mapping[str, Any], ...] = ()
    trail: Mapping[str, Any] = field(default_factory=dict)
    statuses: Mapping[str, list[int]] = field(default_factory=dict)  # by operation: what it answered
    tried: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # by operation: how often, by kind of mutation
    failing: Sequence[Mapping[str, Any]] = ()  # values that made operations fail
    lockouts: Sequence[str] = ()  # operations after which nobody let us in any more


def read(text: str | None) -> Knowledge:
    if text is None:
        return Knowledge()
    kept_before = json.loads(text)
    if kept_before.get("format") != FORMAT:
        return Knowledge()
    names = ("runs", "document", "beliefs", "recipes", "hints")
    later = {
        name: kept_before.get(name, {}) for name in ("trail", "statuses", "tried")
    }  # not in what older versions kept
    later |= {name: kept_before.get(name, []) for name in ("lockouts", "failing")}
    return Knowledge(**{name: kept_before[name] for name in names}, faults=tuple(kept_before["faults"]), **later)


def written(knowledge: Knowledge, hide: Callable[[str], str] = str) -> str:
    """`hide` takes secrets out of a text. Values go through it, names do not: a secret may be the word "true"."""
    return json.dumps({"format": FORMAT, **_hidden(asdict(knowledge), hide)}, ensure_ascii=True)


def _hidden(value: Any, hide: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, Mapping):
        return {name: _hidden(one, hide) for name, one in value.items()}
    return [_hidden(one, hide) for one in value] if isinstance(value, list | tuple) else value


def remembered_faults(knowledge: Knowledge, contract: Contract) -> list[Fault]:
    """Faults of earlier runs whose steps can still be taken."""
    found = (_fault(one, contract) for one in knowledge.faults)
    return [fault for fault in found if fault is not None]


def teach(explorer: Explorer, knowledge: Knowledge, contract: Contract) -> None:
    """Start from what is known."""
    tables = explorer.tables()
    for name, rows in knowledge.beliefs.items():
        if name in tables:
            kept.restore(tables[name], rows)
    explorer.sequencing.kinds.restore(knowledge.beliefs.get("kinds", {}))
    explorer.sequencing.known(knowledge.recipes)
    for operation, recipes in knowledge.recipes.items():
        made = [one for one in (_made(recipe, contract) for recipe in recipes) if one is not None]
        if made:
            explorer.drafting.known[operation] = made
    explorer.failing.restore(knowledge.failing)
    explorer.lockouts.known |= set(knowledge.lockouts)
    explorer.met_before(knowledge.statuses, knowledge.tried)
    restore_trail(explorer.trail, knowledge.trail, contract)
    explorer.failed_before(name for name in explorer.trail.ways if name[1] != WORKS)
    for operation, ways in knowledge.hints.items():
        explorer.drafting.hints.asked[operation] = {tuple(way): None for way in ways}


def learned(explorer: Explorer, before: Knowledge, contract: Contract, faults: Iterable[Fault]) -> Knowledge:
    recipes = {
        operation: [{"draft": pack_draft(made.draft), "sources": dict(made.sources)} for made in list(made_before)[-2:]]
        for operation, made_before in explorer.drafting.recipes().items()
    }
    return Knowledge(
        runs=before.runs + 1,
        document=contract.given,
        beliefs={name: kept.rows(table) for name, table in explorer.tables().items()}
        | {"kinds": explorer.sequencing.kinds.kept()},
        recipes=recipes,
        hints={operation: [list(way) for way in ways] for operation, ways in explorer.drafting.hints.asked.items()},
        faults=tuple(_packed(fault) for fault in faults),
        trail=pack_trail(explorer.trail),
        statuses=explorer.novelty.statuses(),
        tried=explorer.sequencing.tried(),
        lockouts=explorer.lockouts.every(),
        failing=explorer.failing.kept(),
    )


def _packed(fault: Fault) -> dict[str, Any]:
    return {
        "suspicion": asdict(fault.suspicion),
        "steps": [pack_exchange(step) for step in fault.steps],
        "confirmed": fault.confirmed,
        "seen": fault.seen,
        "rests": fault.rests,
    }


def _fault(packed: Mapping[str, Any], contract: Contract) -> Fault | None:
    steps = [unpack_exchange(step, contract) for step in packed["steps"]]
    told = packed["suspicion"]
    if not steps or any(step is None for step in steps) or told["kind"] not in _KINDS:
        return None
    suspicion = Suspicion(Kind(told["kind"]), told["operation"], told["cause"], told["title"], told["detail"])
    shown = tuple(step for step in steps if step)
    return Fault(suspicion, shown, packed["confirmed"], packed["seen"], packed.get("rests", False))


def _made(recipe: Mapping[str, Any], contract: Contract) -> Made | None:
    draft = unpack_draft(recipe["draft"], contract)
    sources = {place: Source(name) for place, name in recipe["sources"].items() if name in _SOURCES}
    return None if draft is None else Made(draft, sources)
