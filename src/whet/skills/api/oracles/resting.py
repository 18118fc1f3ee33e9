"""Where a request names what was not made for it: where it is sent elsewhere, that may not be there."""

import re
from collections.abc import Collection

from whet.skills.api.contract.model import Contract
from whet.skills.api.exchange import Draft
from whet.skills.api.names import is_identity, words
from whet.skills.api.oracles.slots import Place, slots

Noun = tuple[str, ...]
_NAMED = re.compile(r"([^/{}]+)/\{")


def nouns(contract: Contract) -> frozenset[Noun]:
    """What the things of a service are called: `member` where there is /members/{id}."""
    return frozenset(words(one) for each in contract.operations for one in _NAMED.findall(each.path))


def named(draft: Draft, known: Collection[Noun]) -> list[Place]:
    """Where it says which thing is meant (`member_id` in the body or the query), and which version of it."""
    return [place for place, value in slots(draft).items() if value not in (None, "", []) and _refers(place, known)] + [
        ("header", name) for name, value in draft.headers.items() if name.lower() == "if-match" and value != "*"
    ]


def _refers(place: Place, known: Collection[Noun]) -> bool:
    said = words(str(place[-1])) if place[0] in ("body", "query") else ()
    return len(said) > 1 and is_identity(said[-1]) and any(said[:-1][-len(noun) :] == noun for noun in known if noun)
