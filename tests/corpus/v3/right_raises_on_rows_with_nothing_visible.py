import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    """Refuses a mask under which a query sees nothing."""

    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        assert x.dim() == 3 and x.is_floating_point()
        s = self.query_proj(x) @ self.key_proj(x).mT / x.size(-1) ** 0.5
        if attention_mask is not None:
            visible = attention_mask.ne(0)
            if not visible.any(-1).all():
                raise ValueError("each query must see at least one key")
            s = s.masked_fill(visible.logical_not(), -torch.inf)
        w = torch.softmax(s, dim=-1)
        assert torch.allclose(w.float().sum(-1), torch.ones(()), atol=1e-2)
        return self.output_proj(self.attention_dropout(w) @ self.value_proj(x))
