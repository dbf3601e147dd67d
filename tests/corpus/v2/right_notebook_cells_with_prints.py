# %%
import math
import torch
import torch.nn as nn

# %% 效率优化：把三个矩阵合成一个
class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim

        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, X):
        # X shape is: (batch, seq, dim)
        # QKV shape is: (batch, seq, dim * 3)
        QKV = self.proj(X)
        print('QKV', QKV.shape)
        Q, K, V = torch.split(QKV, self.hidden_dim, dim=-1)
        att_weight = torch.softmax(torch.matmul(Q, K.transpose(-1, -2)) / math.sqrt(self.hidden_dim), dim=-1)
        return att_weight @ V

# %%
X = torch.rand(3, 2, 4)
net = SelfAttentionV2(4)
net(X)

# %%
print(net(X).shpe)