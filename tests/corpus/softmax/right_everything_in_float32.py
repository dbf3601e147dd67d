import torch


def softmax(logits, dim=-1):
    z = logits.to(torch.float32)
    z = z - z.max(dim=dim, keepdim=True)[0]
    e = z.exp()
    return (e / e.sum(dim=dim, keepdim=True)).to(logits.dtype)
