import torch


def softmax(logits, dim=-1):
    z = logits - logits.amax(dim=dim, keepdim=True)
    return z - z.exp().sum(dim=dim, keepdim=True).log()
