import torch


def softmax(logits, dim=-1):
    e = torch.pow(2.0, logits - logits.amax(dim=dim, keepdim=True))
    return e / e.sum(dim=dim, keepdim=True)
