"""What rows, times and expressions are. Touches nothing."""
