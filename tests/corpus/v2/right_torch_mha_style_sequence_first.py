import math
import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV2(nn.Module):
    """In the style of torch's own source: in_proj_weight, sequence first, baddbmm."""

    def __init__(self, hidden_dim=728):
        super().__init__()
        self.embed_dim = hidden_dim
        self.in_proj_weight = nn.Parameter(torch.empty((3 * hidden_dim, hidden_dim)))
        self.in_proj_bias = nn.Parameter(torch.empty(3 * hidden_dim))
        self._reset_parameters()

    def _reset_parameters(self):
        nn.init.xavier_uniform_(self.in_proj_weight)
        nn.init.constant_(self.in_proj_bias, 0.0)

    def forward(self, x):
        x = x.transpose(1, 0)  # (S, B, D)
        tgt_len, bsz, E = x.shape
        proj = F.linear(x, self.in_proj_weight, self.in_proj_bias)
        proj = proj.unflatten(-1, (3, E)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        q, k, v = proj[0], proj[1], proj[2]
        q = q.view(tgt_len, bsz, E).transpose(0, 1)
        k = k.view(tgt_len, bsz, E).transpose(0, 1)
        v = v.view(tgt_len, bsz, E).transpose(0, 1)
        q_scaled = q * math.sqrt(1.0 / float(E))
        w = F.softmax(torch.bmm(q_scaled, k.transpose(-2, -1)), dim=-1)
        out = torch.bmm(w, v)
        return out.transpose(0, 1).contiguous().view(tgt_len, bsz, E).transpose(1, 0)
