"""The hidden checks that several levels share. Each compares one thing and reads as a sentence."""
