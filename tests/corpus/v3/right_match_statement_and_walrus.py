import torch
from torch import nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        match attention_mask:
            case None:
                bias = 0.0
            case torch.Tensor(dtype=torch.bool):
                bias = torch.zeros_like(attention_mask, dtype=x.dtype).masked_fill(~attention_mask, float("-inf"))
            case torch.Tensor():
                bias = torch.where(attention_mask > 0.5, 0.0, float("-inf")).to(x.dtype)
            case _:
                raise TypeError("attention_mask")
        scores = self.query_proj(x) @ (keys := self.key_proj(x)).mT / keys.size(2) ** 0.5 + bias
        return self.output_proj(self.attention_dropout(scores.softmax(2)) @ self.value_proj(x))


if __name__ == "__main__":
    layer = SelfAttentionV3(4)
    print(layer(torch.rand(2, 3, 4), torch.tensor([[1, 1, 0], [1, 1, 1], [0, 1, 1]])))
