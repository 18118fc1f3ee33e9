"""Follows the project's code line by line: what was called with what, which way it went, what became of variables."""

from __future__ import annotations

import sys

from .values import ATOMS, glance, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

TAB = "\t"
NOT_KNOWN = "…"  # what happens from here on
_AT_ANY_TIME = ("__del__",)  # as the garbage collector chooses


class Follower:
    """Hands each event to `meet`, as one text, until that says that it has seen enough."""

    def __init__(self, file_of: Callable[[str], str | None], meet: Callable[[str], bool]) -> None:
        self.place, self.line = "", 0  # what is being executed
        self._file_of, self._meet = file_of, meet
        self._following = self._lost = False

    def start(self) -> None:
        self._following = True
        sys.settrace(self._called)

    def stop(self) -> None:
        self._following = False
        sys.settrace(None)
        if self._lost:
            self._meet(NOT_KNOWN)

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        file = self._file_of(frame.f_code.co_filename) if self._following else None
        if file is None or frame.f_code.co_name in _AT_ANY_TIME:
            return None
        watched = _Watched(frame)

        def happened(frame: FrameType, event: str, argument: Any) -> Any:
            if self._following:
                try:
                    self._follow(file, frame, watched, event, argument)
                except Exception:  # deep in a recursion: the test must not notice
                    self._following, self._lost = False, True
                    sys.settrace(None)
            return happened if self._following else None

        return happened(frame, event, argument)

    def _follow(self, file: str, frame: FrameType, watched: _Watched, event: str, argument: Any) -> None:
        if event in ("call", "line"):
            self._tell(file, frame, [event, *watched.changes(frame)])
        elif event == "return":
            self._tell(file, frame, ["return", f"={shown(argument)}", *watched.changes(frame, closely=True)])
            self._stand_above(frame)
        elif event == "exception":
            self._tell(file, frame, ["raise", f"={argument[0].__name__} {shown(argument[1])}"])

    def _tell(self, file: str, frame: FrameType, what: list[str]) -> None:
        if not self.place:
            self._stand(file, frame)
        if self._meet(TAB.join([_where(file, frame), *what])):
            self._stand(file, frame)
        else:
            self.stop()

    def _stand(self, file: str, frame: FrameType) -> None:
        self.place, self.line = _place(file, frame), frame.f_lineno

    def _stand_above(self, frame: FrameType) -> None:
        """After a return the caller's line goes on; where a test called, nothing of the project does."""
        above = frame.f_back
        while self._following and above is not None:
            file = self._file_of(above.f_code.co_filename)
            if file is not None:
                self._stand(file, above)
                return
            above = above.f_back


class _Watched:
    """The variables of one call, as they were last seen."""

    def __init__(self, frame: FrameType) -> None:
        self._seen: dict[str, Any] = {}
        self._glances: dict[str, Any] = {}
        self._is_module = frame.f_code.co_name == "<module>"

    def changes(self, frame: FrameType, closely: bool = False) -> list[str]:
        self._glances = {} if closely else self._glances
        return [
            f"{name}={shown(value)}"
            for name, value in frame.f_locals.items()
            if not (self._is_module and name.startswith("__")) and self._is_new(name, value)
        ]

    def _is_new(self, name: str, value: Any) -> bool:
        """A module has many variables: there, what was changed without being bound anew goes unseen."""
        if type(value) in ATOMS:
            return self._differs(name, value)
        if self._is_module:
            return self._differs(name, id(value))
        glanced = glance(value)
        if glanced is not None and self._glances.get(name) == glanced:
            return False
        self._glances[name] = glanced
        return self._differs(name, shown(value))

    def _differs(self, name: str, seen: Any) -> bool:
        if name in self._seen and _same(self._seen[name], seen):
            return False
        self._seen[name] = seen
        return True


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and one == other)


def _where(file: str, frame: FrameType) -> str:
    """By its function, so that lines that were put in above change nothing; a module's own are all below such lines."""
    return f"{file}:<module>" if frame.f_code.co_name == "<module>" else _place(file, frame)


def _place(file: str, frame: FrameType) -> str:
    code = frame.f_code
    return f"{file}:{getattr(code, 'co_qualname', code.co_name)}+{frame.f_lineno - code.co_firstlineno}"
