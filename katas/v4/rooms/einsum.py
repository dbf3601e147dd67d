import torch
from torch import Tensor, nn


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1) -> None:
        super().__init__()
        self.to_q = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.to_k = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.to_v = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.drop = nn.Dropout(dropout_rate)

    def forward(self, x: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        width = x.shape[-1]
        query, key, value = self.to_q(x), self.to_k(x), self.to_v(x)  # b n d, three times

        logits = torch.einsum("bid,bjd->bij", query, key)  # b n n
        logits = logits * width**-0.5
        if attention_mask is not None:
            visible = attention_mask != 0
            logits = torch.where(visible, logits, -1e9)
        attention = logits.softmax(dim=-1)  # b n n
        attention = self.drop(attention)

        mixed = torch.einsum("bij,bjd->bid", attention, value)  # b n d
        return mixed
