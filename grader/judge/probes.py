"""Inputs that tell everything apart: shapes, masks and rates against the blind spots of single probes.

No width equals 64, a seq_len or a batch; no rate is 0.5; batches, lengths and widths differ from each
other and are not all 1; masks are asymmetric and differ from sample to sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

WIDTH = 16
OTHER_WIDTH = 6
THIRD_WIDTH = 10
ODD_WIDTH = 9
RATE = 0.35
OTHER_RATE = 0.15
HIGH_RATE = 0.6


@dataclass(frozen=True)
class Probe:
    """One input of forward, as a recipe. `mask` names the shape: "bss", "b1s", "1ss", "ss" or None."""

    name: str
    batch: int
    seq_len: int
    width: int = WIDTH
    mask: str | None = None
    dtype: torch.dtype = torch.bool
    open_rows: bool = False  # the first query of each sample sees everything
    open_samples: int = 0  # in so many samples, the first ones, nothing is hidden

    @property
    def says(self) -> str:
        """For people: "x (3, 5, 12), bool mask (3, 5, 5)"."""
        text = f"x {(self.batch, self.seq_len, self.width)}"
        if self.mask is None:
            return text
        text = f"{text}, {str(self.dtype).removeprefix('torch.')} mask {self.mask_shape}"
        if not self.open_samples:
            return text
        return f"{text} that hides nothing" + (
            " of the first sample" if self.open_samples < self.batch else ""
        )

    @property
    def mask_shape(self) -> tuple[int, ...]:
        b, s = self.batch, self.seq_len
        return {"bss": (b, s, s), "b1s": (b, 1, s), "1ss": (1, s, s), "ss": (s, s)}[self.mask or "bss"]


@dataclass(frozen=True)
class Drawn:
    """The tensors of a probe. `visible` is the mask as bool."""

    probe: Probe
    x: Tensor
    mask: Tensor | None
    visible: Tensor | None


UNMASKED = (
    Probe("base", 3, 5),
    Probe("longer_than_wide", 2, 7, OTHER_WIDTH),
    Probe("one_sample", 1, 4, THIRD_WIDTH),
    Probe("one_token", 2, 1),
    Probe("six_tokens", 4, 6),
)

MASKED = (
    Probe("mask_bss_bool", 3, 5, mask="bss"),
    *(
        Probe(f"mask_{shape}_{name}", 3, 5, mask=shape, dtype=dtype)
        for shape in ("bss", "b1s", "1ss", "ss")
        for name, dtype in (("bool", torch.bool), ("int", torch.int64), ("float", torch.float32))
        if (shape, name) != ("bss", "bool")
    ),
    Probe("mask_open_rows", 2, 4, THIRD_WIDTH, mask="bss", open_rows=True),
    Probe("mask_longer_than_wide", 2, 7, OTHER_WIDTH, mask="bss", dtype=torch.int64),
)


# What an answer that is right on those may still get wrong. These only confirm: nothing is explained by them.
FURTHER_UNMASKED = (
    Probe("square", 2, OTHER_WIDTH, OTHER_WIDTH),
    Probe("long", 1, 72, OTHER_WIDTH),
    Probe("odd_width", 2, 3, ODD_WIDTH),
)
FURTHER_MASKED = (
    *(
        Probe(f"mask_bss_{name}", 3, 5, mask="bss", dtype=dtype)
        for name, dtype in (("byte", torch.uint8), ("short", torch.int32), ("half", torch.float16))
    ),
    Probe("mask_open_sample", 3, 4, mask="bss", dtype=torch.int64, open_samples=1),
    Probe("mask_hides_nothing", 2, 3, mask="b1s", open_samples=2),
    Probe("mask_like_padding", 4, 4, ODD_WIDTH, mask="ss", dtype=torch.int64),  # also (B, S)
)


def draw(probe: Probe, seed: int) -> Drawn:
    """The probe's tensors; the same for the same seed."""
    generator = torch.Generator().manual_seed(_mix(seed, probe.name))
    x = torch.randn(probe.batch, probe.seq_len, probe.width, generator=generator)
    if probe.mask is None:
        return Drawn(probe, x, None, None)
    visible = draw_mask(probe.mask_shape, generator)
    if probe.open_rows:
        visible[..., 0, :] = True
    visible[: probe.open_samples] = True
    return Drawn(probe, x, visible.to(probe.dtype), visible)


def draw_mask(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """A bool mask with at least one visible and one hidden key in each row, and no symmetry."""
    while True:
        visible = torch.rand(shape, generator=generator) < 0.6
        rows = visible.flatten(0, -2)
        mixed = bool(rows.any(dim=-1).all() and (~rows).any(dim=-1).all())
        square = visible if shape[-2] == shape[-1] else None
        lopsided = square is None or not torch.equal(square, square.mT)
        samples = visible if visible.dim() == 3 and shape[0] > 1 else None
        varied = samples is None or not torch.equal(samples[0], samples[1])
        if mixed and lopsided and varied:
            return visible


def draw_parameters(shapes: dict[str, tuple[int, ...]], width: int, seed: int) -> dict[str, Tensor]:
    """Values for weights (standard deviation 0.8/√hidden_dim) and biases (0.4).

    So logits spread by about 0.8: enough to tell every mistake, and not so much that a mask leaves a row with
    next to no weight, where a right answer's `w / (w.sum() + 1e-8)` would part from the formula.
    """
    generator = torch.Generator().manual_seed(_mix(seed, f"parameters {width}"))
    spread = 0.8 / width**0.5
    return {
        name: torch.randn(shape, generator=generator) * (spread if _is_weight(shape, width) else 0.4)
        for name, shape in shapes.items()
    }


def _is_weight(shape: tuple[int, ...], width: int) -> bool:
    return sum(size >= width for size in shape) >= 2


def _mix(seed: int, name: str) -> int:
    """One number from the grade's seed and a name; stable between runs and machines."""
    value = seed & 0xFFFFFFFF
    for character in name:
        value = (value * 1_000_003 ^ ord(character)) & 0x7FFFFFFFFFFF
    return value
