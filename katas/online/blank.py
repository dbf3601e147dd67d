import torch


def online_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, block_size: int
) -> torch.Tensor:
    """softmax(query keyᵀ / √head_dim) value, reading keys and values in blocks of block_size.

    query:      (batch, num_heads, query_len, head_dim)
    key:        (batch, num_heads, key_len, head_dim)
    value:      (batch, num_heads, key_len, head_dim)
    block_size: how many keys are read at a time; key_len need not be a multiple of it
    returns:    (batch, num_heads, query_len, head_dim)
    """
    raise NotImplementedError("online_attention is still a blank page.")
