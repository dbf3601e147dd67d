import torch


def softmax(logits, dim=-1):
    e = torch.exp(logits - logits.amax(dim=dim, keepdim=True))
    return e / torch.sum(e)
