import torch


def softmax(logits, dim=-1):
    out = logits - logits.max(dim, keepdim=True).values
    out = out.exp()
    total = out.sum(dim, keepdim=True)
    return out.div(total)
