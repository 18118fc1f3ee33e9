"""What is wrong with an answer: judging, telling causes apart, watching what was created, and seeing a fault again."""
