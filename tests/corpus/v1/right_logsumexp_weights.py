import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.wq = nn.Linear(hidden_dim, hidden_dim)
        self.wk = nn.Linear(hidden_dim, hidden_dim)
        self.wv = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        d = x.size(-1)
        s = torch.einsum("...qd,...kd->...qk", self.wq(x), self.wk(x)).div(d ** 0.5)
        a = (s - torch.logsumexp(s, -1, keepdim=True)).exp()
        return torch.einsum("...qk,...kd->...qd", a, self.wv(x))
