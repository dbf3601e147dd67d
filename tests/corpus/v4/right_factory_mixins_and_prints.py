import math
import torch
import torch.nn as nn


class MaskMixin:
	def hide(self, scores, mask):
		return scores if mask is None else scores.masked_fill(mask == 0, float("-inf"))


class AttentionBase(MaskMixin, nn.Module):
	def __init__(self, hidden_dim, dropout_rate):
		super().__init__()
		self.hidden_dim = hidden_dim
		self.drop = nn.Dropout(dropout_rate)

	def forward(self, x, attention_mask=None):
		q, k, v = self.qkv(x)
		print(f"q {tuple(q.shape)} mask {None if attention_mask is None else tuple(attention_mask.shape)}")
		scores = self.hide(q @ k.transpose(-2, -1) / math.sqrt(self.hidden_dim), attention_mask)
		return self.drop(torch.softmax(scores, dim=-1)) @ v


def make(name):
	def __init__(self, hidden_dim=728, dropout_rate=0.1):
		AttentionBase.__init__(self, hidden_dim, dropout_rate)
		self.key = nn.Linear(hidden_dim, hidden_dim)
		self.query = nn.Linear(hidden_dim, hidden_dim)
		self.value = nn.Linear(hidden_dim, hidden_dim)

	def qkv(self, x):
		return self.query(x), self.key(x), self.value(x)

	return type(name, (AttentionBase,), {"__init__": __init__, "qkv": qkv})


SelfAttentionV4 = make("SelfAttentionV4")
# class SelfAttentionV4(nn.Module): see make() above
