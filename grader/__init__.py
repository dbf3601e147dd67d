"""attention-kata: practise writing self-attention from memory, graded by hidden checks."""

__version__ = "0.1.0"
