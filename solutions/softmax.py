"""Softmax by hand, over any axis."""

import torch


def softmax(logits: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """exp(logits) over its sum along `dim`; the shape and dtype of logits."""
    # The same number taken from a whole row cancels in the quotient. With the row's own maximum the largest
    # exponent is exp(0) = 1: nothing overflows, and no sum is 0.
    top = logits.amax(dim=dim, keepdim=True)  # logits' shape, with 1 at dim
    numerators = torch.exp(logits - top)  # logits' shape
    return numerators / numerators.sum(dim=dim, keepdim=True)  # logits' shape
