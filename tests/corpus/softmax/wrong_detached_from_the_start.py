import torch


def softmax(logits, dim=-1):
    z = logits.detach() - logits.detach().amax(dim=dim, keepdim=True)
    e = torch.exp(z)
    return e / e.sum(dim=dim, keepdim=True)
