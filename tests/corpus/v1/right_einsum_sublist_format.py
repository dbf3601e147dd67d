import torch
import torch.nn as nn

# axis numbers instead of letters
BATCH, ROW, COL, FEAT = 0, 1, 2, 3


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        Q, K, V = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        logits = torch.einsum(Q, [BATCH, ROW, FEAT], K, [BATCH, COL, FEAT], [BATCH, ROW, COL])
        logits = logits.div(Q.size(-1) ** 0.5)
        P = logits.softmax(-1)
        return torch.einsum(P, [BATCH, ROW, COL], V, [BATCH, COL, FEAT], [BATCH, ROW, FEAT])
