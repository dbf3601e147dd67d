import torch


def softmax(logits, dim=-1):
    top = torch.relu(logits.amax(dim, keepdim=True))
    e = torch.exp(logits - top)
    return e / e.sum(dim, keepdim=True)
