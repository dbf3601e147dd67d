import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.set_default_device(device)
torch.set_printoptions(precision=3, sci_mode=False)


class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.to(device)

    def forward(self, x, attention_mask=None):
        s = self.query_proj(x) @ self.key_proj(x).mT / x.shape[-1] ** 0.5
        if attention_mask is not None:
            s = s.masked_fill(attention_mask.to(x.device) == 0, torch.finfo(s.dtype).min)
        return self.attention_dropout(s.softmax(-1)) @ self.value_proj(x)


x = torch.randn(2, 3, 8, device=device)
mask = torch.tensor([[1, 1, 0], [1, 1, 0]], device=device).unsqueeze(1)
print(SelfAttentionV4(8).to(device).eval()(x, mask))
