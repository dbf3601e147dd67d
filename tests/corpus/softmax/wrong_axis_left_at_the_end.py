import torch


def softmax(logits, dim=-1):
    rows = logits.movedim(dim, -1)
    e = torch.exp(rows - rows.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)
