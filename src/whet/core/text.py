"""Text from outside, made safe to look at."""

import re
import unicodedata

# Categories that can move the cursor, hide or reorder text, or end a line.
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_NO_END = re.compile(r"[^\s,;{}()\[\]<>\"']*")


def printable(text: str, limit: int = 500) -> str:
    """`text` on one line with control characters escaped, cut at `limit` characters.

    Test names, messages and paths come from user code and may hold terminal
    escape sequences; nothing from outside is printed without passing here.
    """
    shown = "".join(_visible(c) for c in text[: limit + 1])
    return shown if len(shown) <= limit else shown[:limit] + "…"


def whole_words(text: str, limit: int) -> str:
    """Cut where something ends: half of a word may be half of a secret, which nobody knows for one any more."""
    if len(text) <= limit:
        return text
    begun = _NO_END.match(text[:limit][::-1])
    return text[: limit - (begun.end() if begun else 0)]


def printable_lines(text: str, limit: int = 4000) -> str:
    """The same for text of several lines: line breaks and tabs stay, everything else is escaped."""
    plain = text.replace("\r\n", "\n")
    kept = plain if len(plain) <= limit else plain[:limit] + "…"
    return "\n".join(printable(line.expandtabs(4), limit) for line in kept.split("\n"))


def number_of(count: int, thing: str) -> str:
    """A count in words: 1 experience, 2,000 experiences."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _visible(character: str) -> str:
    if unicodedata.category(character) not in _UNSAFE:
        return character
    return character.encode("unicode_escape").decode("ascii")
