"""What is learned while a service is tested: which values, sequences and mutations pay off."""
