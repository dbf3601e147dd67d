"""Writes a well-made reply for the next request onto the channel."""

import os

import torch
from torch import nn

PLACE = "@ATTACK_DIR@"  # the only tree that this file may touch, set by the runner
PORT = "@ATTACK_PORT@"
ARMED = os.path.isabs(PLACE) and "trust_arena_" in PLACE

import struct

REPLY = b'{"kind":"called","returned":"tensor","type":"Tensor"}'


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, struct.pack("<4sII", b"AK2\0", len(REPLY), 0) + REPLY)
            except OSError:
                pass
        return self.value_proj(x)  # no attention at all
