import torch
from torch import nn


class Conv1D(nn.Module):
    """As in GPT-2: a linear layer with a transposed weight."""

    def __init__(self, nf, nx):
        super().__init__()
        self.nf = nf
        self.weight = nn.Parameter(torch.empty(nx, nf))
        self.bias = nn.Parameter(torch.zeros(nf))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, x):
        size_out = x.size()[:-1] + (self.nf,)
        x = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
        return x.view(size_out)


class SelfAttentionV4(nn.Module):
    def __init__(self, n_embd=728, attn_pdrop=0.1):
        super().__init__()
        self.c_attn = Conv1D(3 * n_embd, n_embd)
        self.attn_dropout = nn.Dropout(attn_pdrop)
        self.split_size = n_embd

    def forward(self, hidden_states, attention_mask=None):
        query, key, value = self.c_attn(hidden_states).split(self.split_size, dim=2)
        attn_weights = torch.matmul(query, key.transpose(-1, -2))
        attn_weights = attn_weights / torch.full(
            [], value.size(-1) ** 0.5, dtype=attn_weights.dtype, device=attn_weights.device
        )
        if attention_mask is not None:
            mask_value = torch.full([], torch.finfo(attn_weights.dtype).min, dtype=attn_weights.dtype)
            attn_weights = torch.where(attention_mask.to(torch.bool), attn_weights, mask_value)
        attn_weights = nn.functional.softmax(attn_weights, dim=-1).type(value.dtype)
        return torch.matmul(self.attn_dropout(attn_weights), value)
