"""The fleet for coding agents: the Model Context Protocol over standard input and output."""
