"""What everything is made of: records, the agent, the ports. Needs nothing heavy."""
