"""Policies that learn with neural networks."""
