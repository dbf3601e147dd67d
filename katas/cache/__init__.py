"""Self-attention with a cache of keys and values."""
