import torch

def self_attention(q, k, v):
    d = q.shape[-1]
    scores = q @ k.transpose(-2, -1) / d ** 0.5
    return torch.softmax(scores, dim=-1) @ v
