"""Text that matches a regular expression, from Python's own parse of it.

Look-arounds and back-references are not obeyed while generating: the text is checked afterwards and drawn again.
"""

import random
import re
import warnings
from functools import lru_cache
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_TRIES = 24
_FEW = 3  # repetitions more than needed
_LONGEST = 10_000  # a text that must be longer is not tried: it is made letter by letter
_ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_ .,:@#"
_CLASSES = {
    code.CATEGORY_DIGIT: "0123456789",
    code.CATEGORY_NOT_DIGIT: "abcdefXYZ-_",
    code.CATEGORY_WORD: "abcdefghijklmnopqrstuvwxyzABCDEFXYZ0123456789_",
    code.CATEGORY_NOT_WORD: "-. @",
    code.CATEGORY_SPACE: " ",
    code.CATEGORY_NOT_SPACE: "abcdefghijkXYZ0123456789-_",
}
# What ECMA's expressions write in another way than Python's, and the brackets of a class.
_ECMA = re.compile(r"\(\?<(?![=!])|\\p\{(\w)\w*\}|\\.|\[\^?|\]", re.DOTALL)
_PROPERTIES = {"L": "a-zA-Z", "N": "0-9", "P": ".,:;!?", "Z": " "}


@lru_cache(maxsize=2048)
def understood(pattern: str) -> tuple[Any, re.Pattern[str]] | None:
    """The parse tree and the compiled pattern; None for what Python cannot read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a pattern's oddities are its author's, not this process's
            python = _python(pattern)
            return parser.parse(python), re.compile(python)
    except (re.error, RecursionError, OverflowError):
        return None


def _python(pattern: str) -> str:
    """Named groups and Unicode properties, these with brackets of their own where they are in no class."""
    in_class = False

    def written(token: re.Match[str]) -> str:
        nonlocal in_class
        if token[1]:
            letters = _PROPERTIES.get(token[1], "a-z")
            return letters if in_class else f"[{letters}]"
        if token[0] == "]" or token[0].startswith("["):
            in_class = token[0] != "]"
        return "(?P<" if token[0] == "(?<" else token[0]

    return _ECMA.sub(written, pattern)


def matching(pattern: str, rng: random.Random, least: int = 0, most: int | None = None) -> str | None:
    """A text that the pattern finds itself in, of a length between; None when none was found."""
    read = understood(pattern)
    if read is None:
        return None
    tree, compiled = read
    if max(least, tree.getwidth()[0]) > _LONGEST:
        return None
    for attempt in range(_TRIES):
        text = _padded(_written(tree, rng, _room(attempt, rng, least, most)), pattern, rng, least)
        if least <= len(text) and (most is None or len(text) <= most) and compiled.search(text):
            return text
    return None


def _room(attempt: int, rng: random.Random, least: int, most: int | None) -> int:
    """Repetitions that may be added: few at first, then about as many as the length asks for."""
    if attempt < _TRIES // 4:
        return _FEW
    longest = least + _FEW if most is None else min(most, least + 100)
    return rng.randint(max(0, least - 8) if attempt % 2 else 0, longest)


def _padded(text: str, pattern: str, rng: random.Random, least: int) -> str:
    """A pattern that is open at an end may have anything there."""
    missing = least - len(text)
    if missing <= 0 or (pattern.endswith("$") and pattern.startswith("^")):
        return text
    padding = "".join(rng.choices("abcdefghij", k=missing))
    return padding + text if pattern.endswith("$") else text + padding


def _written(tree: Any, rng: random.Random, more: int, groups: dict[int, str] | None = None) -> str:
    groups = {} if groups is None else groups
    return "".join(_piece(operator, argument, rng, more, groups) for operator, argument in tree)


def _piece(operator: Any, argument: Any, rng: random.Random, more: int, groups: dict[int, str]) -> str:
    if operator is code.LITERAL:
        return chr(argument)
    if operator is code.NOT_LITERAL:
        return rng.choice([letter for letter in _ALPHABET if ord(letter) != argument])
    if operator is code.ANY:
        return rng.choice(_ALPHABET)
    if operator is code.IN:
        return _one_of(argument, rng)
    if operator is code.BRANCH:
        return _written(rng.choice(argument[1]), rng, more, groups)
    if operator is code.SUBPATTERN:
        text = _written(argument[3], rng, more, groups)
        groups[argument[0]] = text
        return text
    if operator in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
        low, high, inner = argument
        most = low + more if high is code.MAXREPEAT else min(high, low + more)
        # Long texts are asked for when there is much room: half of them as long as that.
        count = most if more > _FEW and rng.random() < 0.5 else rng.randint(low, most)
        room = more if more <= _FEW else more // max(1, count)  # repetitions of repetitions share much of it
        return "".join(_written(inner, rng, room, groups) for _ in range(count))
    if operator is code.GROUPREF:
        return groups.get(argument, "")
    if operator is code.ATOMIC_GROUP:
        return _written(argument, rng, more, groups)
    return ""  # AT, ASSERT, ASSERT_NOT, GROUPREF_EXISTS: they stand for no text of their own


def _one_of(members: Any, rng: random.Random) -> str:
    if members[0][0] is code.NEGATE:
        excluded = re.compile("[" + "".join(_class_source(member) for member in members[1:]) + "]")
        letters = [letter for letter in _ALPHABET if not excluded.match(letter)]
        return rng.choice(letters) if letters else "\u00e9"
    operator, argument = rng.choice(members)
    if operator is code.RANGE:
        return chr(rng.randint(argument[0], min(argument[1], max(argument[0], 0x2FF))))
    return rng.choice(_CLASSES.get(argument, "a")) if operator is code.CATEGORY else chr(argument)


_SOURCES = {
    code.CATEGORY_DIGIT: r"\d",
    code.CATEGORY_NOT_DIGIT: r"\D",
    code.CATEGORY_WORD: r"\w",
    code.CATEGORY_NOT_WORD: r"\W",
    code.CATEGORY_SPACE: r"\s",
    code.CATEGORY_NOT_SPACE: r"\S",
}


def _class_source(member: Any) -> str:
    operator, argument = member
    if operator is code.CATEGORY:
        return _SOURCES[argument]
    if operator is code.RANGE:
        return f"\\U{argument[0]:08x}-\\U{argument[1]:08x}"
    return f"\\U{argument:08x}"
