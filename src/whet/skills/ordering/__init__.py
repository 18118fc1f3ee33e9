"""Which tests first, and which at all: learned from what runs showed and from what changed."""

from whet.skills.ordering.experts import Goal
from whet.skills.ordering.orderer import Orderer, Ranked
from whet.skills.ordering.reach import affected, failed_first, fast_first, named_after

__all__ = ["Goal", "Orderer", "Ranked", "affected", "failed_first", "fast_first", "named_after"]
