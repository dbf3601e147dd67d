"""Sliding-window attention. Fill in the three TODOs and delete each `raise`."""

import math

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
    # TODO 1 of 3: score every query against every key of the same head, and scale.
    raise NotImplementedError("TODO 1 of 3: score queries against keys head by head, and scale.")

    # TODO 2 of 3: hide the keys that are later than the query, and those that lie window places back or more.
    raise NotImplementedError("TODO 2 of 3: hide what is later, and what lies too far back.")

    # TODO 3 of 3: turn the scores into weights, mix the values and return the result.
    raise NotImplementedError("TODO 3 of 3: make the weights, mix the values and return the result.")
