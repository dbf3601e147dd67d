"""Cross-attention."""
