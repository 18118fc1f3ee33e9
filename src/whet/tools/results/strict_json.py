"""JSON without surprises: no NaN, no key twice, no bottomless nesting."""

import json
from collections import Counter
from typing import Any

from whet.core.text import printable
from whet.tools.results.documents import Document, whole
from whet.tools.results.refusing import bad


def load(document: Document) -> Any:
    content = whole(document)
    try:
        return json.loads(content, object_pairs_hook=_once_each, parse_constant=_no_number)
    except _Twice as twice:
        raise bad(document.name, f"has the key {twice} twice in one object") from twice
    except _NoNumber as constant:
        raise bad(document.name, f"holds {constant}, which is no JSON number") from constant
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")  # some of Python's sentences wait for the place
        where = f"at line {error.lineno}, column {error.colno}"
        raise bad(document.name, f"is not valid JSON or is cut off: {what} {where}") from error
    except UnicodeDecodeError as error:
        raise bad(document.name, "is not UTF-8 text", "Save it as UTF-8.") from error
    except ValueError as error:
        raise bad(document.name, "holds a number with thousands of digits") from error
    except RecursionError as error:
        raise bad(document.name, "is nested too deeply to be results") from error


class _Twice(ValueError):
    pass


class _NoNumber(ValueError):
    pass


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        often = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _Twice(repr(printable(often, 60)))
    return made


def _no_number(constant: str) -> float:
    raise _NoNumber(constant)
