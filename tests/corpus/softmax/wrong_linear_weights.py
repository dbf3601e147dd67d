import torch


def softmax(logits, dim=-1):
    return logits / logits.sum(dim=dim, keepdim=True)
