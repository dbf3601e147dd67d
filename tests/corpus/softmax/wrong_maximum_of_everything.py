import torch


def softmax(logits, dim=-1):
    z = logits - torch.max(logits)
    return torch.exp(z) / torch.exp(z).sum(dim=dim, keepdim=True)
