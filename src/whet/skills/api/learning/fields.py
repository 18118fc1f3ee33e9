"""Every field the service has shown, found by the words of its name.

Scoring each slot against each field would be quadratic; a slot is scored only against fields that share a word with it,
or one whose letters are nearly the same.
"""

from collections.abc import Iterable
from itertools import islice

from whet.skills.api.learning.paths import spoken
from whet.skills.api.names import abbreviates, cosine, is_identity, owner, words

Field = tuple[str, str]  # kind of thing, name of the field
_NEAR = 0.45


class Fields:
    """Grows only; `size` says whether anything is new."""

    def __init__(self) -> None:
        self.size = 0
        self._known: dict[Field, None] = {}
        self._by_word: dict[str, list[Field]] = {}
        self._near: dict[str, tuple[int, list[str]]] = {}

    def add(self, kind: str, names: Iterable[str]) -> None:
        for name in names:
            if (kind, name) not in self._known:
                self._known[kind, name] = None
                self.size += 1
                for word in self._found_by(kind, name):
                    self._by_word.setdefault(word, []).append((kind, name))

    def known(self) -> list[Field]:
        """Oldest first."""
        return list(self._known)

    def about(self, wanted: Iterable[str]) -> list[Field]:
        """Fields whose name, or whose thing's name, has one of these words or nearly so; each once, oldest first."""
        found: dict[Field, None] = {}
        for word in wanted:
            for near in self._nearly(word):
                found |= dict.fromkeys(self._by_word[near])
        return list(found)

    def _nearly(self, word: str) -> list[str]:
        """The vocabulary only grows, so that each word is compared once."""
        compared, near = self._near.get(word, (0, []))
        if compared < len(self._by_word):
            fresh = islice(self._by_word, compared, None)
            near += [
                other for other in fresh if other == word or abbreviates(word, other) or cosine(word, other) > _NEAR
            ]
            self._near[word] = (len(self._by_word), near)
        return near

    def _found_by(self, kind: str, name: str) -> set[str]:
        """An identity (`id`, `name`) is found by what it identifies."""
        own = words(name.rpartition(".")[2] or name)
        if own and is_identity(own[-1]):
            said = {*owner(name), *own[:-1]}
            return said or set(words(spoken(kind)))
        return set(own)
