import torch
import torch.nn as nn


@torch.jit.script
def weights_of(q: torch.Tensor, k: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.softmax(torch.matmul(q, k.transpose(1, 2)) * scale, dim=-1)


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim: int = 728):
        super().__init__()
        self.scale: float = hidden_dim ** -0.5
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return weights_of(self.query_proj(x), self.key_proj(x), self.scale) @ self.value_proj(x)
