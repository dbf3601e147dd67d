import torch


def softmax(logits, dim=-1):
    e = torch.exp(torch.clamp(logits, -50.0, 50.0))
    return e / e.sum(dim=dim, keepdim=True)
