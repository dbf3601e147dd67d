import math

import torch


def softmax(logits, dim=-1):
    z = logits / math.sqrt(logits.size(dim))
    e = torch.exp(z - z.amax(dim=dim, keepdim=True))
    return e / e.sum(dim=dim, keepdim=True)
