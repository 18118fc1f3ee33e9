"""How things are done well, step by step, inside one action."""
