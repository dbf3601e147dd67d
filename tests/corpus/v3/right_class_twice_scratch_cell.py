# %%
import math
import torch
import torch.nn as nn

# %% first version, no mask
class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        return self.proj(x)

# %% now with a mask
class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.hidden_dim)
        if attention_mask is not None:
            print(attention_mask.shape, scores.shape)
            scores = scores.masked_fill(attention_mask == 0, float("-inf"))
        return self.output_proj(self.attention_dropout(torch.softmax(scores, dim=-1)) @ v)

# %%
x = torch.rand(3, 4, 2)
b = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]])
mask = b.unsqueeze(dim=1).repeat(1, 4, 1)
net = SelfAttentionV3(2)
print(net(x, mask).shape)
# %%
net(x, mask.unsqueeze(2)).shape
raise SystemExit("end of the demo")
