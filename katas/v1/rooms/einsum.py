import torch
from torch import Tensor, nn


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.to_q = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.to_k = nn.Linear(hidden_dim, hidden_dim, bias=False)
        self.to_v = nn.Linear(hidden_dim, hidden_dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        width = x.shape[-1]
        query, key, value = self.to_q(x), self.to_k(x), self.to_v(x)  # b n d, three times

        logits = torch.einsum("bid,bjd->bij", query, key)  # b n n
        logits = logits * width**-0.5
        attention = logits.softmax(dim=-1)  # b n n

        mixed = torch.einsum("bij,bjd->bid", attention, value)  # b n d
        return mixed
