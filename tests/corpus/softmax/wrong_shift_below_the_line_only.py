import torch


def softmax(logits, dim=-1):
    top = logits.amax(dim=dim, keepdim=True)
    return torch.exp(logits) / torch.exp(logits - top).sum(dim=dim, keepdim=True)
