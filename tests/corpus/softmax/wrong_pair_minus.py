import torch


def softmax(logits, dim=-1):
    top = logits.max(dim=dim, keepdim=True)
    e = torch.exp(logits - top)
    return e / e.sum(dim=dim, keepdim=True)
