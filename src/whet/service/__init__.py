"""The fleet for people and programs: REST, pages, metrics. One process, one port, loopback unless told otherwise."""
