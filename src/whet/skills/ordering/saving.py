"""An orderer as bytes and back. A state of another version is refused: it is learned anew from the sheets."""

import io
import json
import struct
import zipfile
import zlib
from typing import Any

import numpy as np

from whet.skills.ordering.columns import Column
from whet.skills.ordering.learned import Learned
from whet.skills.ordering.promise import Incident, Promise

VERSION = 5
_DAMAGE = (
    *(OSError, EOFError, KeyError, TypeError, AttributeError, NotImplementedError, RuntimeError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)
_HAZARD = ("failed", "ran", "length_failed", "length_expected")


def dump(learned: Learned) -> bytes:
    told = {
        "version": VERSION,
        "sheets": learned.sheets,
        "left_out_runs": learned.selections,
        "tests": list(learned.columns.place),
        "experts": {goal: hedge.names for goal, hedge in learned.hedges.items()},
        "gaps": {goal: hedge.gap for goal, hedge in learned.hedges.items()},
        "together": learned.company.together,
        "failures": learned.company.failures,
        "newest": learned.company.newest,
        "incidents": learned.promise.incidents,
        "held_risk": learned.promise.held_risk,
        "selections": learned.promise.selections,
        "versions": learned.versions,
    }
    arrays: dict[str, Any] = {f"column_{name}": column for name, column in learned.columns.arrays().items()}
    arrays |= {f"hazard_{name}": getattr(learned.hazard, name) for name in _HAZARD}
    arrays |= {f"losses_{goal}": hedge.losses for goal, hedge in learned.hedges.items()}
    arrays["told"] = np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def restore(learned: Learned, state: bytes) -> None:
    try:
        with np.load(io.BytesIO(state), allow_pickle=False) as arrays:
            _restore(learned, dict(arrays))
    except _DAMAGE as error:
        raise ValueError(f"this is not the state of an orderer: {error}") from error


def _restore(learned: Learned, arrays: dict[str, Any]) -> None:
    told = json.loads(arrays["told"].tobytes())
    names = {goal: list(hedge.names) for goal, hedge in learned.hedges.items()}
    if told["version"] != VERSION or told["experts"] != names:
        raise ValueError("this state was made by another version")
    learned.sheets, learned.selections = told["sheets"], int(told["left_out_runs"])
    prefix = "column_"
    columns = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    learned.columns.restore(told["tests"], columns)
    for name in _HAZARD:
        setattr(learned.hazard, name, _like(getattr(learned.hazard, name), arrays[f"hazard_{name}"]))
    for goal, hedge in learned.hedges.items():
        hedge.losses, hedge.gap = _like(hedge.losses, arrays[f"losses_{goal}"]), float(told["gaps"][goal])
    learned.company.together, learned.company.failures = told["together"], told["failures"]
    learned.company.newest = tuple(told["newest"])
    incidents = [Incident(*incident) for incident in told["incidents"]]
    learned.promise = Promise(incidents, told["held_risk"], told["selections"])
    learned.versions = {test: (version, failed) for test, (version, failed) in told["versions"].items()}
    if not set(learned.versions) <= set(learned.columns.place):
        raise ValueError("this state knows versions of tests it does not know")


def _like(fresh: Column, saved: Column) -> Column:
    if saved.shape != fresh.shape or saved.dtype != fresh.dtype or not np.isfinite(saved).all():
        raise ValueError("this state was made by another version")
    return saved
