"""The one place that chooses implementations."""
