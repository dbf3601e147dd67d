import torch


def softmax(logits, dim=-1):
    z = torch.swapaxes(logits, dim, -1)
    e = torch.exp(z - torch.amax(z, -1, keepdim=True))
    total = torch.einsum("...k->...", e)[..., None]
    return torch.swapaxes(e / total, dim, -1)
