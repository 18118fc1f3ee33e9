"""Whet: a test fleet that learns."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
__all__ = ["Task", "__version__", "execute_with_learning"]


def __getattr__(name: str) -> Any:
    """What most who import Whet never use is loaded when it is asked for."""
    if name in __all__:
        return getattr(import_module("whet.bootstrap.executing"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
