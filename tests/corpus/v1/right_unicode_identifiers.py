import torch
from torch import nn


class SelfAttentionV1(nn.Module):
    """Самовнимание: все имена по-русски."""

    def __init__(self, hidden_dim=728):
        super().__init__()
        self.запрос = nn.Linear(hidden_dim, hidden_dim)
        self.ключ = nn.Linear(hidden_dim, hidden_dim)
        self.значение = nn.Linear(hidden_dim, hidden_dim)
        self.корень = hidden_dim**0.5

    def forward(self, вход):
        # оценки: (пакет, длина, длина)
        оценки = self.запрос(вход) @ self.ключ(вход).mT / self.корень
        веса = torch.softmax(оценки, dim=-1)
        return веса @ self.значение(вход)
