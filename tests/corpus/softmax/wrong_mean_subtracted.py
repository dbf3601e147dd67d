import torch


def softmax(logits, dim=-1):
    e = torch.exp(logits - logits.mean(dim=dim, keepdim=True))
    return e / e.sum(dim=dim, keepdim=True)
