"""Testing an HTTP service by its contract: learning which operations, sequences, values and mutations find faults."""
