import math
import torch
import torch.nn as nn


class MaskedSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, hide):
        if hide is not None:
            scores = scores.masked_fill(hide, float("-inf"))
        w = torch.softmax(scores, -1)
        ctx.save_for_backward(w)
        return w

    @staticmethod
    def backward(ctx, grad):
        w, = ctx.saved_tensors
        gw = grad * w
        return gw - w * gw.sum(-1, keepdim=True), None


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, x, attention_mask=None):
        scores = self.query_proj(x) @ self.key_proj(x).transpose(1, 2) / math.sqrt(self.hidden_dim)
        hide = None if attention_mask is None else attention_mask == 0
        return self.output_proj(self.attention_dropout(MaskedSoftmax.apply(scores, hide)) @ self.value_proj(x))
