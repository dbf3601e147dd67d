import torch


def softmax(logits, dim=-1):
    top = logits.flatten().amax()
    powers = (logits - top).exp()
    return powers / powers.sum(dim, keepdim=True)
