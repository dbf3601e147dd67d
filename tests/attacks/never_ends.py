"""Ignores every signal, also that of its timer, and holds the lock of the interpreter."""

import os

import torch
from torch import nn

PLACE = "@ATTACK_DIR@"  # the only tree that this file may touch, set by the runner
PORT = "@ATTACK_PORT@"
ARMED = os.path.isabs(PLACE) and "trust_arena_" in PLACE

import ctypes
import signal

for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        ctypes.PyDLL(None).sleep(120)
        return self.value_proj(x)  # no attention at all
