"""What a failure is found by: what was said, and the project's code it came through.

What tests look like says which test failed, not why: two failures of neighbouring tests share most of their lines,
whatever went wrong. Of the test only the line it stood at counts.
"""

import re

from whet.core.memories import LONGEST_TEXT
from whet.memory.failures_reading import Failure

_MOST_SHOWN = 30
_LONGEST_LINE = 300
# Addresses are another in every process.
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{5,}|(?<=\.)x?[0-9a-f]{5,}(?=>)")


def cue(failure: Failure) -> str:
    """Messages first, then where the test stood, then the project's frames from the deepest outwards."""
    lines = [line for raised in reversed(failure.chain) for line in raised.said]
    lines += [frame.code for frame in failure.frames() if frame.is_test and frame.code]
    for frame in reversed(failure.inside()):
        lines += [f"{frame.file}:{frame.line} {frame.function}", *frame.shown[-_MOST_SHOWN:], frame.code]
    text = "\n".join(line[:_LONGEST_LINE] for line in lines if line)
    return _ADDRESS.sub("0x", text)[:LONGEST_TEXT].strip()
