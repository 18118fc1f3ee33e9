"""Continuous learning, compressed: see `weeks.py`."""
