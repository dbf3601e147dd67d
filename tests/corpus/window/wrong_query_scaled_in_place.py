import torch


def sliding_window_attention(query, key, value, window):
    S = query.shape[-2]
    ones = torch.ones(S, S, dtype=torch.bool, device=query.device)
    future = ones.triu(1)
    past = ones.tril(-window)
    scale = query.shape[-1] ** -0.5
    scores = query.mul_(scale) @ key.transpose(-2, -1)
    scores = scores.masked_fill(future | past, -1e9)
    weights = torch.softmax(scores, -1)
    return weights.matmul(value)
