import torch


def sliding_window_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, window: int
) -> torch.Tensor:
    """Causal attention in which a query sees the last `window` keys, its own among them.

    query:   (batch, num_heads, seq_len, head_dim)
    key:     (batch, num_heads, seq_len, head_dim)
    value:   (batch, num_heads, seq_len, head_dim)
    window:  how many keys a query sees at most; 1 or more, and it may exceed seq_len
    returns: (batch, num_heads, seq_len, head_dim)
    """
    raise NotImplementedError("sliding_window_attention is still a blank page.")
