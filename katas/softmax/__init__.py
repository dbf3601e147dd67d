"""Softmax by hand."""
