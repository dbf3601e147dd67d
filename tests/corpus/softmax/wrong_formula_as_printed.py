import torch


def softmax(logits, dim=-1):
    return logits.exp() / logits.exp().sum(dim=dim, keepdim=True)
