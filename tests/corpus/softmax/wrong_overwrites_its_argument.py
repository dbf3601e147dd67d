import torch


def softmax(logits, dim=-1):
    top = logits.amax(dim=dim, keepdim=True)
    z = logits.float().sub_(top).exp()
    return (z / z.sum(dim=dim, keepdim=True)).to(logits.dtype)
