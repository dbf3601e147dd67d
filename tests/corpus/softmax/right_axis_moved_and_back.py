import torch


def softmax(logits, dim=-1):
    rows = torch.movedim(logits, dim, -1)
    rows = rows - rows.amax(-1, keepdim=True)
    powers = torch.exp(rows)
    return torch.movedim(powers / powers.sum(-1, keepdim=True), -1, dim)
