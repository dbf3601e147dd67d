import torch


def sliding_window_attention(query, key, value, window):
    """Scores for each distance 0 ... window - 1, stacked; no square."""
    S, d = query.shape[-2:]
    scores, shifted = [], []
    for back in range(min(window, S)):
        k = torch.zeros_like(key)
        v = torch.zeros_like(value)
        k[:, :, back:] = key[:, :, : S - back]
        v[:, :, back:] = value[:, :, : S - back]
        s = (query * k).sum(-1) / d ** 0.5
        s = s.masked_fill(torch.arange(S) < back, float("-inf"))
        scores.append(s)
        shifted.append(v)
    weights = torch.stack(scores, -1).softmax(-1)
    return sum(weights[..., n, None] * v for n, v in enumerate(shifted))
