"""States and situations in words. What is remembered and whoever asks use the same words, so that alike is near."""

import math
from collections.abc import Iterator, Mapping

_LONGEST_WORD = 60
_MOST_WORDS = 120


def state_cue(agent: str, state: Mapping[str, object]) -> str:
    """`field=value` for every field of a state, as its JSON holds it; numbers by their power of two, so that states
    that are nearly the same share most words."""
    words = [f"agent={agent}", *_words("", state)]
    return " ".join(words[:_MOST_WORDS])


def situation_words(state: Mapping[str, object]) -> str:
    """The situation that agents share, the same words for the same situation; empty where a state has none."""
    situation = state.get("situation")
    return " ".join(_words("", situation)) if isinstance(situation, Mapping) else ""


def _words(field: str, value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, each in sorted(value.items(), key=lambda item: str(item[0])):
            yield from _words(_named(field, str(name)), each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _words(field, each)
    else:
        yield f"{field}={_value(value)}"


def _named(field: str, name: str) -> str:
    """Fields of the situation are known by their own names: every state has one."""
    return name if field in ("", "situation") else f"{field}.{name}"


def _value(value: object) -> str:
    match value:
        case None:
            return "unknown"
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return _magnitude(float(min(max(value, -1e300), 1e300)))
    return "-".join(str(value).split())[:_LONGEST_WORD]


def _magnitude(number: float) -> str:
    if not math.isfinite(number) or number == 0:
        return "0" if number == 0 else "unknown"
    return f"{math.copysign(2.0 ** math.floor(math.log2(abs(number))), number):g}"
