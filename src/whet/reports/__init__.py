"""What a run found, decided and learnt, told to people and programs."""
