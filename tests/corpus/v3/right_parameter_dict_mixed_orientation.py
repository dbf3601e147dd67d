import torch
from torch import nn
import torch.nn.functional as F


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()

        def matrix():
            return nn.Parameter(nn.init.orthogonal_(torch.empty(hidden_dim, hidden_dim)))

        self.weights = nn.ParameterDict({"query": matrix(), "key": matrix(), "value": matrix(), "out": matrix()})
        self.biases = nn.ParameterDict(
            {name: nn.Parameter(torch.randn(hidden_dim) * 0.1) for name in ("query", "value", "out")}
        )
        self.rate = dropout_rate

    def forward(self, x, attention_mask=None):
        q = x @ self.weights["query"] + self.biases["query"]
        k_t = torch.einsum("od,bsd->bos", self.weights["key"], x)  # (batch, hidden_dim, seq_len)
        v = F.linear(x, self.weights["value"].T, self.biases["value"])
        s = (q @ k_t).mul_(x.size(-1) ** -0.5)
        if attention_mask is not None:
            s.masked_fill_(attention_mask == 0, torch.finfo(s.dtype).min)
        w = F.dropout(torch.softmax(s, -1), self.rate, self.training)
        return torch.addmm(self.biases["out"], (w @ v).flatten(0, 1), self.weights["out"]).view_as(x)
