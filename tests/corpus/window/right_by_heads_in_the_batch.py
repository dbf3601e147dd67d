import torch


def sliding_window_attention(query, key, value, window: int):
    b, h, s, d = query.shape
    q, k, v = (x.reshape(b * h, s, d) for x in (query, key, value))
    scores = torch.bmm(q, k.transpose(1, 2)).div(d ** 0.5)
    for i in range(s):
        scores[:, i, i + 1:] = float("-inf")
        if i >= window:
            scores[:, i, : i - window + 1] = float("-inf")
    return torch.bmm(scores.softmax(2), v).view(b, h, s, d)
