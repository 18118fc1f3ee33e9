"""A change of the world that was noticed."""

from datetime import datetime
from typing import Literal

from whet.core.records import Record


class Drift(Record):
    agent: str
    kind: Literal["rewards", "states"]
    what: str
    size: float
    run_id: str
    at: datetime
    sentence: str
