import torch


def softmax(logits, dim=-1):
    return torch.special.softmax(logits, dim)
