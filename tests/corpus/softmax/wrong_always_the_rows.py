import torch


def softmax(logits, dim=-1):
    top = torch.max(logits, dim=-1, keepdim=True)[0]
    e = (logits - top).exp()
    total = e.sum(dim=-1, keepdim=True)
    return e / total
