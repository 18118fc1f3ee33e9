"""Learn → prove → roll out. So far: worlds, and whether learning pays on them."""
