"""A padding mask for every query."""
