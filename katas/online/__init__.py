"""Attention in blocks, with an online softmax."""
