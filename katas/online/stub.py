"""Attention in blocks: the online softmax. Fill in the four TODOs and delete each `raise`."""

import math

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
    head_dim, key_len = query.shape[-1], key.shape[-2]
    running_max = query.new_full((*query.shape[:-1], 1), -math.inf)  # (batch, num_heads, query_len, 1)
    running_sum = torch.zeros_like(running_max)  # (batch, num_heads, query_len, 1)
    mixed = torch.zeros_like(query)  # (batch, num_heads, query_len, head_dim)

    for start in range(0, key_len, block_size):
        # TODO 1 of 4: the keys and the values of this block, and the scaled scores of every query.
        raise NotImplementedError("TODO 1 of 4: the keys and values of this block, and the scaled scores.")

        # TODO 2 of 4: the new running maximum, the factor by which what was summed so far shrinks, and the
        # exponentials of this block.
        raise NotImplementedError("TODO 2 of 4: the new maximum, the factor, and the exponentials.")

        # TODO 3 of 4: carry running_max, running_sum and mixed on to the next block.
        raise NotImplementedError("TODO 3 of 4: carry the maximum, the sum and the mix on to the next block.")

    # TODO 4 of 4: what is left once all blocks are read. Return (batch, num_heads, query_len, head_dim).
    raise NotImplementedError("TODO 4 of 4: do what is left once all blocks are read, and return the result.")
