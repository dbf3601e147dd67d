import torch
from torch import nn

class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.q = nn.Linear(hidden_dim, hidden_dim)
        self.k = nn.Linear(hidden_dim, hidden_dim)
        self.v = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        return torch.softmax(self.q(x) @ self.k(x).mT / x.size(-1) ** 0.5, dim=-1) @ self.v(x)

m = SelfAttentionV1(8)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
loss = torch.tensor(1.0)
while loss > 0:
    loss = (m(torch.randn(2, 3, 8)) ** 2).mean() + 1
    opt.zero_grad(); loss.backward(); opt.step()
