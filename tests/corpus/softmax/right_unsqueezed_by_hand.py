import torch


def softmax(logits, dim=-1):
    dim = dim if dim >= 0 else dim + logits.dim()
    top = torch.max(logits, dim)[0].unsqueeze(dim)
    e = (logits - top).exp()
    return e / e.sum(dim).unsqueeze(dim)
