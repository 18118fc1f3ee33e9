"""What is remembered, and how it is found again."""
