import torch
import torch.nn as nn


class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim=728, dropout_rate=0.1):
        super().__init__()
        self.mha = nn.MultiheadAttention(hidden_dim, 1, dropout=dropout_rate, batch_first=True)

    def forward(self, x, attention_mask=None):
        hide = None
        if attention_mask is not None:
            hide = (attention_mask == 0).expand(x.shape[0], x.shape[1], x.shape[1])
        return self.mha(x, x, x, attn_mask=hide, need_weights=False)[0]
