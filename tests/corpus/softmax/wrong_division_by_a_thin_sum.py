import torch


def softmax(logits, dim=-1):
    scaled = torch.exp(logits - torch.amax(logits, dim, keepdim=True))
    normaliser = torch.sum(scaled, dim)
    return torch.div(scaled, normaliser)
