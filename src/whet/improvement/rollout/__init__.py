"""From proven to production: who is asked which policy, what that earned, and what follows from it."""
