import torch


def softmax(logits, dim=-1):
    if dim in (1, -1):
        e = torch.exp(logits - logits.amax(1)[:, None])
        return e / e.sum(1)[:, None]
    e = torch.exp(logits - logits.amax(0)[None, :])
    return e / e.sum(0)[None, :]
