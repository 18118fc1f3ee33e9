"""How it is decided, and how deciding improves."""
