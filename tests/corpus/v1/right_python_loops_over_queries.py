import torch
import torch.nn as nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        outputs = []
        for sample in x:
            Q, K, V = self.query_proj(sample), self.key_proj(sample), self.value_proj(sample)
            rows = []
            for q in Q:
                alpha = torch.softmax(torch.mv(K, q) / self.dim ** 0.5, dim=0)
                rows.append(torch.matmul(alpha, V))
            outputs.append(torch.stack(rows))
        return torch.stack(outputs)
