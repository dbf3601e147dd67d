import torch


def softmax(logits, dim=-1):
    return torch.exp(logits - logits.amax(dim=dim, keepdim=True))
