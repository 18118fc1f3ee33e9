"""What of the stream of experiences is fit to train with, and when there is enough of it."""
