"""Texts made fit to be kept: masked first, then cut to what a memory holds."""

from whet.core.memories import LONGEST_TEXT, MOST_SUBJECTS
from whet.memory.masking import masked

_LONGEST_SUBJECT = 200
_LONGEST_KIND = 40


def fitting(text: str, limit: int = LONGEST_TEXT) -> str:
    """A secret that was cut in two would be found by no mask, so masking comes first."""
    return cut(masked(text), limit)


def cut(masked_text: str, limit: int = LONGEST_TEXT) -> str:
    """Beginning and end: tracebacks say what happened last, reports what it is about first."""
    clean = _clean(masked_text).strip() or "nothing was said"
    if len(clean) <= limit:
        return clean
    head = limit // 4
    return f"{clean[:head]}\n…\n{clean[len(clean) - (limit - head - 3) :]}"


def subjects(*named: str) -> tuple[str, ...]:
    """Each once; a name that is too long is known by its end, which tells tests and files apart."""
    return tuple(dict.fromkeys(_short(name) for name in named if name))[:MOST_SUBJECTS]


def _short(name: str) -> str:
    clean = _clean(masked(name))
    if len(clean) <= _LONGEST_SUBJECT:
        return clean
    kind = clean.partition(":")[0][:_LONGEST_KIND]
    return f"{kind}:…{clean[-(_LONGEST_SUBJECT - len(kind) - 2) :]}"


def _clean(text: str) -> str:
    """Without what no database keeps: lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "␀")
