"""A lending library over HTTP, with faults that can be planted: something real to point `whet api` at."""
