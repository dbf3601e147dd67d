# %% [markdown]
# # Self attention

# %%
import math
import torch
import torch.nn as nn

# %%
class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim: int = 728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        Q, K, V = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        return torch.softmax(Q @ K.transpose(-1, -2) / math.sqrt(self.hidden_dim), dim=-1) @ V

# %%
x = torch.randn(2, 3, 4)
SelfAttentionV1(4)(x).shape

# %% scratch
SelfAttentionV1(5)(x)
