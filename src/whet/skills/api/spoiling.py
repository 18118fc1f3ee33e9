"""Credentials that are wrong in content and right in form, so that they are checked and not merely unreadable.

They stand in reports, in the store and in logs of the service. So nothing of the right one is in them but its form:
every letter and digit is drawn, whatever stood there. Not even "another one than there was": of many runs the one
letter that never comes would be the right one.
"""

import base64
import random
import re
import string

WRONG = "whet-wrong-credential"
_SCHEME = re.compile(r"(?:bearer|basic|digest|token|apikey|negotiate) +(?=\S)", re.IGNORECASE)
_PARTS = "-_.:=;"  # between the parts of a token; a UUID without them would be refused unread
_HEX = re.compile(r"[0-9a-f\W_]+", re.IGNORECASE)


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def spoiled(value: str, dice: random.Random) -> str:
    scheme = _SCHEME.match(value)
    if scheme is not None and scheme[0].lower().startswith("basic"):
        wrong = basic("whet", "wrong")
    else:
        wrong = _like(value, scheme.end() if scheme is not None else 0, dice)
    return wrong if wrong != value else wrong + "x"


def _like(value: str, start: int, dice: random.Random) -> str:
    letters = "abcdef" if _HEX.fullmatch(value, start) else string.ascii_lowercase
    return value[:start] + "".join(_drawn(one, letters, dice) for one in value[start:])


def _drawn(character: str, letters: str, dice: random.Random) -> str:
    if character in _PARTS:
        return character
    if character.isdecimal():
        return dice.choice(string.digits)
    return dice.choice(letters.upper() if character.isupper() else letters)
