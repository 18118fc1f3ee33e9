"""How a document that is no usable contract is refused: one sentence that names it, and what to do."""

from whet.core.errors import RefusedInput
from whet.core.text import printable


class NoContract(RefusedInput):
    """A document that promises nothing that could be tested."""


def refuse(name: str, trouble: str, remedy: str) -> NoContract:
    return NoContract(f"{printable(name, 300)} {trouble}.", remedy)
