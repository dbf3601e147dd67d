import torch


def softmax(logits, dim=-1):
    e = torch.exp(logits - logits.amax(dim, keepdim=True))
    return e / e.sum(-1, keepdim=True)
