import torch


def sliding_window_attention(query, key, value, window):
    length = query.shape[2]
    rows = torch.arange(length, device=query.device)[:, None]
    cols = torch.arange(length, device=query.device)[None, :]
    distance = rows - cols
    allowed = (distance >= 0) & (distance < window)
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
