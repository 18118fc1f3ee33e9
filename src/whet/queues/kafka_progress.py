"""How far one consumer is with one partition."""


class Progress:
    """Kafka keeps one number for a partition: everything before it is done. So only what is done without a gap can be
    kept; what was done beyond a gap is remembered here, for as long as the partition is ours.

    Offsets may have gaps of their own, so the number is the first offset still in hand, or else the next to come.
    """

    def __init__(self, start: int) -> None:
        self.position = start  # what the client reads next
        self.kept = start  # what the broker was told
        self._new = start  # everything from here on was never handed out
        self._looked_again_at: int | None = None
        self._in_hand: dict[int, float] = {}

    @property
    def finished(self) -> int:
        """Everything before this offset is done."""
        return min(self._in_hand, default=self._new)

    def meet(self, offset: int, now: float, lease: float) -> bool:
        """Whether to hand it out: it is new, or was in hand for longer than the lease."""
        self.position = offset + 1
        since = self._in_hand.get(offset)
        is_done = since is None and offset < self._new
        if is_done or (since is not None and now - since < lease):
            return False
        self._in_hand[offset] = now
        self._new = max(self._new, offset + 1)
        return True

    def skips(self, offset: int) -> bool:
        """Whether it comes sooner than expected, for the first time. Offsets may be missing for good, but a broker may
        also show what was put at the same time in the wrong order; what is passed over then would be lost."""
        gap = offset > self.position and self._looked_again_at != self.position
        if gap:
            self._looked_again_at = self.position
        return gap

    def finish(self, offset: int) -> None:
        self._in_hand.pop(offset, None)

    def overdue(self, now: float, lease: float) -> int | None:
        """The first offset that was in hand for longer than the lease."""
        return min((offset for offset, since in self._in_hand.items() if now - since >= lease), default=None)
