"""Long words that nobody would write: keys without a label.

Words people write have pieces (test, Http, 404) of several characters. In a random key, letters of both cases and
digits change places almost everywhere. Hex digits alone are left: they are digests, identities and addresses.
"""

import re

SHORTEST = 20
# How long the pieces of a word are on average: of random ones 1.6 to 2.8, of written ones from 3.
# 40 characters are what a secret key of AWS has; few other words do.
LONGEST_PIECES, LONGEST_OF_LETTERS, LONGEST_OF_FORTY = 3.0, 2.2, 3.6
MOST_SEPARATORS = 0.12

_WORD = re.compile(r"[A-Za-z0-9_+/-]{20,}+={0,2}")
_HEX = re.compile(r"(?<![A-Za-z0-9])(?:0x|I)?(?:[0-9a-f]{8,}+|[0-9A-F]{8,}+)(?![A-Za-z0-9])")
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def random_masked(text: str) -> str:
    return _WORD.sub(_replaced, text)


def _replaced(found: re.Match[str]) -> str:
    return "[token]" if _is_random(found[0].rstrip("=")) else found[0]


def _is_random(word: str) -> bool:
    told = _HEX.sub("", word)
    pieces = _PIECE.findall(told)
    length = sum(map(len, pieces))
    if length < SHORTEST or len(told) - length > MOST_SEPARATORS * len(told):
        return False
    digits = sum(piece.isdigit() for piece in pieces)
    longest = (LONGEST_OF_FORTY if len(word) == 40 else LONGEST_PIECES) if digits else LONGEST_OF_LETTERS
    return digits < len(pieces) and length < longest * len(pieces)
