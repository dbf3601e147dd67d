import torch


def softmax(logits, dim=-1):
    z = logits.to(torch.float64)
    e = torch.exp(z - z.amax(dim=dim, keepdim=True))
    return e / e.sum(dim=dim, keepdim=True)
