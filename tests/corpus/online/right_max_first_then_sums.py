import torch


def online_attention(query, key, value, block_size):
    d = query.size(-1)
    blocks = [(k, v) for k, v in zip(torch.split(key, block_size, -2), torch.split(value, block_size, -2))]

    def scores(k):
        return query.matmul(k.transpose(-1, -2)).div(d ** 0.5)

    with torch.no_grad():
        top = torch.stack([scores(k).amax(-1) for k, _ in blocks]).amax(0).unsqueeze(-1)
    num, den = 0, 0
    for k, v in blocks:
        e = (scores(k) - top).exp()
        num, den = num + e @ v, den + e.sum(-1, keepdim=True)
    return num / den
