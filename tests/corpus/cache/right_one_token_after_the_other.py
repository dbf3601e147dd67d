import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    """Token by token, head by head."""

    def __init__(self, hidden_dim=768, num_heads=12):
        super().__init__()
        if hidden_dim % num_heads:
            raise ValueError("heads do not fit")
        self.width = hidden_dim // num_heads
        self.queries = nn.ModuleList(nn.Linear(hidden_dim, self.width) for _ in range(num_heads))
        self.keys = nn.ModuleList(nn.Linear(hidden_dim, self.width) for _ in range(num_heads))
        self.values = nn.ModuleList(nn.Linear(hidden_dim, self.width) for _ in range(num_heads))
        self.join = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, cache=None):
        past = list(cache) if cache else []
        rows = []
        for t in range(x.shape[1]):
            token = x[:, t]
            past.append([(k(token), v(token)) for k, v in zip(self.keys, self.values)])
            heads = []
            for h, q in enumerate(self.queries):
                k = torch.stack([step[h][0] for step in past], dim=1)
                v = torch.stack([step[h][1] for step in past], dim=1)
                w = torch.softmax((k @ q(token).unsqueeze(-1)).squeeze(-1) / self.width**0.5, dim=-1)
                heads.append((w.unsqueeze(1) @ v).squeeze(1))
            rows.append(self.join(torch.cat(heads, dim=-1)))
        return torch.stack(rows, dim=1), past
