"""For coding agents: which tests, what is flaky, why it failed, what was found; by the Model Context Protocol."""
