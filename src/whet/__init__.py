"""Whet: a test fleet that learns."""

__version__ = "0.1.0"
