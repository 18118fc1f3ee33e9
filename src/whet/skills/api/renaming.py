"""Another name for a thing whose name is taken.

The source of this file is copied into written tests, so it needs nothing but the standard library.
"""

import random
import re
import string

_COUNTING = "123456789"
CHANGED = 8  # characters, at the end: the beginning stays readable


def other_name(text: str, dice: random.Random) -> str:
    """A letter for a letter, a digit for a digit: it is as long, and matches nearly every pattern the first matched.
    Zeros stay and none comes: numbers seldom begin with one."""
    name, at_sign, domain = text.partition("@")
    letters = "abcdef" if re.fullmatch(r"[^g-zG-Z]*", name) else string.ascii_lowercase
    alphabets = {**dict.fromkeys(string.ascii_lowercase, letters), **dict.fromkeys(_COUNTING, _COUNTING),
                 **dict.fromkeys(string.ascii_uppercase, letters.upper())}  # fmt: skip
    kept, changed = name[:-CHANGED], name[-CHANGED:]
    return kept + "".join(dice.choice(alphabets.get(one, one)) for one in changed) + at_sign + domain
