import torch
import torch.nn as nn

class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim: int = 728):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        Q, K, V = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        attention_value = torch.matmul(Q, K.transpose(-1, -2)) * torch.sqrt(torch.tensor(self.hidden_dim, dtype=torch.float32))
        attention_weight = torch.softmax(attention_value, dim=-1)
        return torch.matmul(attention_weight, V)
