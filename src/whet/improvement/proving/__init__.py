"""What must be true before a policy decides: comparisons valid at any time, evidence from the log, gates."""
