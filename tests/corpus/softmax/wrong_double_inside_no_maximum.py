import torch


def softmax(logits, dim=-1):
    e = torch.exp(logits.double())
    return (e / e.sum(dim, keepdim=True)).to(logits.dtype)
