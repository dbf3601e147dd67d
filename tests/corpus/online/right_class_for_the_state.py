import torch


class Running:
    """maximum, sum and mix of one tile of queries"""

    def __init__(self, tile):
        self.q = tile / tile.shape[-1] ** 0.5
        self.top = self.total = self.mix = None

    def read(self, k, v):
        s = self.q @ k.transpose(2, 3)
        top = s.max(dim=-1, keepdim=True).values
        if self.top is not None:
            top = torch.where(top > self.top, top, self.top)
        w = (s - top).exp()
        total, mix = w.sum(-1, keepdim=True), w @ v
        if self.top is not None:
            f = (self.top - top).exp()
            total, mix = total + f * self.total, mix + f * self.mix
        self.top, self.total, self.mix = top, total, mix


def online_attention(query, key, value, block_size=32):
    state = Running(query)
    for k, v in zip(key.split(block_size, dim=2), value.split(block_size, dim=2)):
        state.read(k, v)
    return state.mix / state.total
