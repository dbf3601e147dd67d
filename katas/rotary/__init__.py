"""Rotary position embedding: its steps in both pairings, and wrong ways of each."""
