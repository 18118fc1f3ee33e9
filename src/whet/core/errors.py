"""Errors people see. Each says what was given, what is allowed and what to do."""


class WhetError(Exception):
    """An error with a remedy; the command line prints it as a sentence, without a traceback."""

    exit_code = 2

    def __init__(self, problem: str, remedy: str | None = None) -> None:
        super().__init__(problem if remedy is None else f"{problem} {remedy}")
        self.problem = problem
        self.remedy = remedy


class RefusedInput(WhetError):
    """A value that must not reach the tables: not finite, out of range, of the wrong shape."""


class MissingTool(WhetError):
    """Something the user's environment does not have (pytest, git, coverage)."""


class Busy(WhetError):
    """Another run holds what this one needs."""
