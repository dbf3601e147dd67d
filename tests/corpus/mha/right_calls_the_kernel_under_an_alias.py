import torch.nn.functional as F
from torch import nn

attend = F.scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    def __init__(self, hidden_dim=768, num_heads=12, dropout_rate=0.1):
        super().__init__()
        assert hidden_dim % num_heads == 0
        self.num_heads, self.p = num_heads, dropout_rate
        self.qkv = nn.Linear(hidden_dim, 3 * hidden_dim)
        self.out = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, attention_mask=None):
        q, k, v = (t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        mask = None if attention_mask is None else attention_mask.bool().unsqueeze(-3)
        y = attend(q, k, v, attn_mask=mask, dropout_p=self.p * self.training)
        return self.out(y.transpose(1, 2).flatten(2))
