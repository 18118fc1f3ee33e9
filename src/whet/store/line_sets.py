"""Sets of line numbers as coverage.py packs them."""

from collections.abc import Collection

from whet.core.errors import RefusedInput

_HIGHEST_LINE = 10_000_000


def to_numbits(file: str, lines: Collection[int]) -> bytes:
    from coverage.numbits import nums_to_numbits

    if lines and not 0 <= min(lines) <= max(lines) <= _HIGHEST_LINE:
        raise RefusedInput(f"{file!r} cannot have the lines {lines!r:.80}.", f"Lines are 0 to {_HIGHEST_LINE}.")
    return nums_to_numbits(lines)


def to_lines(numbits: bytes) -> list[int]:
    """Ascending."""
    from coverage.numbits import numbits_to_nums

    return numbits_to_nums(numbits)


def line_count(numbits: bytes) -> int:
    return int.from_bytes(numbits, "little").bit_count()
