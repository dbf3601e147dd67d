import torch


def softmax(logits, dim=-1):
    e = torch.exp(logits - logits.abs().amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)
