"""Speaking HTTP to the service under test: what is sent, what came back, and a client that stays on one origin."""
