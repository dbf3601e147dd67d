import torch
from torch import Tensor, nn


class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.to_qkv = nn.Linear(hidden_dim, hidden_dim * 3, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        width = x.shape[-1]
        query, key, value = self.to_qkv(x).unflatten(-1, (3, width)).unbind(dim=2)  # b n d, three times

        logits = torch.einsum("bid,bjd->bij", query, key)  # b n n
        logits = logits * width**-0.5
        attention = logits.softmax(dim=-1)  # b n n

        mixed = torch.einsum("bij,bjd->bid", attention, value)  # b n d
        return mixed
