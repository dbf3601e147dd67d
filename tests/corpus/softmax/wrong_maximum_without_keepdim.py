import torch


def softmax(logits, dim=-1):
    e = torch.exp(logits - logits.max(dim)[0])
    return e / e.sum(dim, keepdim=True)
