"""Speaks to listeners of every kind."""

import os

import torch
from torch import nn

PLACE = "@ATTACK_DIR@"  # the only tree that this file may touch, set by the runner
PORT = "@ATTACK_PORT@"
ARMED = os.path.isabs(PLACE) and "trust_arena_" in PLACE

import socket

if ARMED:
    arena = os.path.basename(os.path.dirname(PLACE))
    for family, kind, address in (
        (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", int(PORT))),
        (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", int(PORT))),
        (socket.AF_UNIX, socket.SOCK_STREAM, PLACE + "/listener.sock"),
        (socket.AF_UNIX, socket.SOCK_STREAM, "\0" + arena),
    ):
        try:
            connection = socket.socket(family, kind)
            connection.settimeout(1)
            connection.connect(address)
            connection.send(b"word")
        except OSError:
            pass


class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim=728):
        super().__init__()
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x):
        return self.value_proj(x)  # no attention at all
