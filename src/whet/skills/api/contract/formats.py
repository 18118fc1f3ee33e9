"""What a `format` asks of a text, where the validator's own answer would be too strict."""

import re
from collections.abc import Callable
from typing import Any

# RFC 3339 in spirit: many services leave out the offset or the seconds, and nobody calls that broken.
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d([.,]\d+)?)?\s?([Zz]|[+-]\d\d(:?\d\d)?)?", re.ASCII)


def is_moment(text: Any) -> bool:
    return not isinstance(text, str) or _MOMENT.fullmatch(text) is not None


CHECKS: dict[str, Callable[..., bool]] = {"date-time": is_moment}
