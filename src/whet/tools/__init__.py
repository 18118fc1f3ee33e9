"""Everything that really acts on the user's project, always in the user's own interpreter and under limits."""
