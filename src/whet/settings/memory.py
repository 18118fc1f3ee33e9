"""What is remembered, for how long, and how much of it is used: [tool.whet.memory]."""

from typing import Literal

from pydantic import Field

from whet.settings.section import Section


class Memory(Section):
    """What the fleet remembers."""

    enabled: bool = Field(True, description="Remember what happens; findings then name the earlier ones they resemble.")
    embedding: Literal["hashed", "minilm"] = Field(
        "hashed", description="How likeness is measured: by words, or by meaning (extra `memory`; slower)."
    )
    keep: int = Field(100_000, ge=0, description="How many memories are kept; pinned ones and facts stay and count.")
    keep_days: float = Field(
        365.0, gt=0, description="Memories that were neither met again nor used for so long are forgotten."
    )
    recall: int = Field(
        16,
        ge=0,
        le=100,
        description="Memories of each action in a state that a decision counts with; 0: none.",
    )
    failures: int = Field(
        50, ge=0, le=50, description="How many failing tests of one pytest --whet are remembered with their text."
    )
    follow: int = Field(
        20,
        ge=0,
        le=100,
        description="How many failing tests a visit follows to where they turn, in a twentieth of its budget; 0: none.",
    )
    consolidate_every: int = Field(
        200, ge=1, description="After so many new memories, the end of a visit looks for facts and procedures."
    )
