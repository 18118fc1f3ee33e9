"""Prioritized replay: experiences as columns, drawn in proportion to how much they still surprise."""

from whet.policies.deep.replay.replay import Replay, Sample
from whet.policies.deep.replay.schema import Column, Schema

__all__ = ["Column", "Replay", "Sample", "Schema"]
