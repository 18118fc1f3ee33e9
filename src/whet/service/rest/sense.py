"""What has the right form may still make no sense: numbers that overflow, a crew that is not the agent's."""

from collections.abc import Iterator
from contextlib import contextmanager

from whet.service.problems import Refused


@contextmanager
def making_sense() -> Iterator[None]:
    """Around what an agent is asked of something that was sent."""
    try:
        yield
    except (ArithmeticError, LookupError) as error:
        raise Refused(
            422, f"The agent can make no sense of this: {type(error).__name__} {error}.", "Send what was measured."
        ) from error
