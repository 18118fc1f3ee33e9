"""Public contract suites: what every implementation of a port must pass."""
