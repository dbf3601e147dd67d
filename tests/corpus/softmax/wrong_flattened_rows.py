import torch


def softmax(logits, dim=-1):
    rows = logits.reshape(-1, logits.shape[dim])
    e = torch.exp(rows - rows.amax(-1, keepdim=True))
    return (e / e.sum(-1, keepdim=True)).reshape(logits.shape)
