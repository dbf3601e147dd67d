import math
import torch


def online_attention(query, key, value, block_size):
    """attention, block by block"""
    scale = query.shape[-1] ** -0.5
    running_max = torch.full_like(query[..., :1], -math.inf)
    running_sum = torch.zeros_like(running_max)
    output = torch.zeros(query.shape)
    for start in range(0, key.shape[2], block_size):
        k = key[:, :, start : start + block_size]
        v = value[:, :, start : start + block_size]
        scores = torch.matmul(query, k.transpose(-1, -2)) * scale
        block_max = scores.max(dim=-1, keepdim=True).values
        new_max = torch.maximum(running_max, block_max)
        probs = torch.exp(scores - new_max)
        rescale = torch.exp(running_max - new_max)
        running_sum = running_sum * rescale + probs.sum(dim=-1, keepdim=True)
        output = output * rescale + torch.matmul(probs, v)
        running_max = new_max
    result = torch.empty(query.shape)
    result[:] = output / running_sum
    return result
