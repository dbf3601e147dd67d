import math

import torch


def softmax(logits: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Powers of two are powers of e when the exponent is measured in bits."""
    bits = (logits - logits.amax(dim, True)) * math.log2(math.e)
    powers = torch.exp2(bits)
    return powers / powers.sum(dim, True)
