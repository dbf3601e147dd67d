import torch


def softmax(logits, dim=-1):
    low = logits.amin(dim=dim, keepdim=True)
    e = torch.exp(logits - low)
    return e / e.sum(dim=dim, keepdim=True)
