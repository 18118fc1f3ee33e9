"""A slot is one place of an operation that needs a value; a source is where the value comes from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum

from whet.skills.api.contract.model import Json, Schema


class Source(StrEnum):
    EXAMPLE = "example"  # examples, default, enum and const of schema and parameter
    CONSTRAINED = "constrained"  # random within the schema; for objects and arrays: each part by its own slot
    BOUNDARY = "boundary"  # valid extremes
    REALISTIC = "realistic"  # by name and format
    OBSERVED = "observed"  # seen in this service's answers


class Absent(Enum):
    """No value: `None` would be the JSON null."""

    NOTHING = "nothing"


NOTHING = Absent.NOTHING


@dataclass(frozen=True, slots=True)
class Slot:
    """`place` says where: "path.item_id", "query.limit", "body.data.name", "body.tags[]", "body.labels.*"."""

    operation: str
    place: str
    schema: Schema = field(compare=False, repr=False)
    required: bool = field(compare=False)

    @property
    def name(self) -> str:
        """The last name in the place: `tags` for "body.tags[]"."""
        return self.place.removesuffix(".*").replace("[]", "").rpartition(".")[2]

    @property
    def where(self) -> str:
        return self.place.partition(".")[0].removesuffix("[]")


Choose = Callable[[Slot, Sequence[Source]], Source]
Observed = Callable[[Slot], Json | Absent]
Include = Callable[[Slot], bool] | float
