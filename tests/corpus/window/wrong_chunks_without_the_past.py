import torch


def sliding_window_attention(query, key, value, window):
    """Chunks of `window` queries; each takes the keys from window - 1 before its first query on."""
    pieces = []
    total = query.size(2)
    for begin in range(0, total, window):
        end = min(begin + window, total)
        first = begin
        q, k, v = query[:, :, begin:end], key[:, :, first:end], value[:, :, first:end]
        s = q @ k.mT / query.size(3) ** 0.5
        i = torch.arange(begin, end).unsqueeze(-1)
        j = torch.arange(first, end)
        s = s.masked_fill((j > i) | (j <= i - window), torch.finfo(s.dtype).min)
        pieces.append(s.softmax(-1) @ v)
    return torch.cat(pieces, 2)
