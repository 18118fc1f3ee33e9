"""The loop: observe → recall → decide → act → outcome → reward → experience."""
