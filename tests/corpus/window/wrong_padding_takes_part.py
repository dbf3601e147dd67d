import torch
import torch.nn.functional as F


def sliding_window_attention(query, key, value, window):
    # windows of keys and values: (B, H, S, W, d); what lies before the start is padded and hidden
    S, d = query.shape[2:]
    pad = window - 1
    k = F.pad(key, (0, 0, pad, 0)).unfold(2, window, 1).transpose(-1, -2)
    v = F.pad(value, (0, 0, pad, 0)).unfold(2, window, 1).transpose(-1, -2)
    scores = torch.einsum("bhsd,bhswd->bhsw", query, k) * d ** -0.5
    return torch.einsum("bhsw,bhswd->bhsd", scores.softmax(-1), v)
