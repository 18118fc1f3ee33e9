"""Valid drafts spoiled in one place at a time."""
