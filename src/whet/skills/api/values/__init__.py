"""Values for every slot of a request: drafts that keep the contract."""
