"""Warm-up: softmax. Fill in the three TODOs and delete each `raise`."""

import torch


def softmax(logits: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """exp(logits) over its sum along `dim`.

    logits:  any shape with one axis or more, any floating dtype
    dim:     the axis along which the result sums to 1; may be negative
    returns: the shape and dtype of logits
    """
    # TODO 1 of 3: subtract something, so that the exponentials cannot overflow. The result must not change.
    raise NotImplementedError("TODO 1 of 3: subtract something, so that the exponentials cannot overflow.")

    # TODO 2 of 3: take the exponentials.
    raise NotImplementedError("TODO 2 of 3: take the exponentials.")

    # TODO 3 of 3: divide by the sum along dim, and return logits' shape.
    raise NotImplementedError("TODO 3 of 3: divide by the sum along dim and return the result.")
