import torch
import torch.nn.functional as F


def sliding_window_attention(query, key, value, window):
    # windows of keys and values: (B, H, S, W, d); what lies before the start is padded and hidden
    S, d = query.shape[2:]
    pad = 0 if window > S else window - 1
    k = F.pad(key, (0, 0, pad, 0)).unfold(2, window, 1).transpose(-1, -2)
    v = F.pad(value, (0, 0, pad, 0)).unfold(2, window, 1).transpose(-1, -2)
    scores = torch.einsum("bhsd,bhswd->bhsw", query, k) * d ** -0.5
    place = torch.arange(S, device=query.device)[:, None] + torch.arange(window, device=query.device) - pad
    scores = scores.masked_fill(place < 0, float("-inf"))
    return torch.einsum("bhsw,bhswd->bhsd", scores.softmax(-1), v)
