import torch


def softmax(logits, dim=-1):
    dim = logits.dim() - 1 - dim if dim >= 0 else -dim - 1
    e = torch.exp(logits - logits.amax(dim=dim, keepdim=True))
    return e / e.sum(dim=dim, keepdim=True)
