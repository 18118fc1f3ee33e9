"""What was left out or repaired while a contract was read, each said once and not without end."""

from whet.core.text import printable

MOST_NOTES = 200
LONGEST_NOTE = 300


class Notes:
    def __init__(self) -> None:
        self._sentences: dict[str, None] = {}
        self._more = 0

    def add(self, sentence: str) -> None:
        shown = printable(sentence, LONGEST_NOTE)
        if shown in self._sentences:
            return
        if len(self._sentences) < MOST_NOTES:
            self._sentences[shown] = None
        else:
            self._more += 1

    def sentences(self) -> tuple[str, ...]:
        more = (f"And {self._more} more notes like these.",) if self._more else ()
        return (*self._sentences, *more)
