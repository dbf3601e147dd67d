"""Tensors as they are sent: dense copies of plain class, and what is odd about those that cannot be."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.protocol import DTYPES, MAX_DIMENSIONS

MAX_ELEMENTS = 2_000_000


def oddity(value: Tensor) -> str:
    """Why the tensor cannot be sent; nothing where it can."""
    if value.layout is not torch.strided:
        return "a sparse tensor"
    if value.is_meta:
        return "a tensor on the meta device, which holds no numbers"
    if value.device.type != "cpu":
        return f"a tensor on {value.device.type}"
    if value.dtype not in DTYPES.values():
        return f"a tensor of {str(value.dtype).removeprefix('torch.')}"
    if value.numel() > MAX_ELEMENTS or value.dim() > MAX_DIMENSIONS:
        return f"a tensor of shape {tuple(value.shape)}"
    return ""


def plain(value: Tensor) -> Tensor:
    """A dense copy of plain class: what a subclass claims about itself stays behind."""
    return torch.Tensor.as_subclass(value.detach(), torch.Tensor).clone().contiguous()
