"""What attention in blocks is made of, and what can go wrong in it."""
