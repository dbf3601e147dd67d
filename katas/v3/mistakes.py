"""What can go wrong in v3."""

from __future__ import annotations

from kata_content.common import examples, fitted
from kata_content.common import mistakes as common

from grader.authoring import Example

VALUES = common.MASKED_VALUES
NEUTRAL = common.NEUTRAL
TRAINING = common.TRAINING
FITTED = (fitted.SCALE, *fitted.FILLS)
EXAMPLES: tuple[Example, ...] = (
    *examples.EVERY_LEVEL,
    *examples.SEPARATE_LAYERS,
    *examples.MASK_AND_DROPOUT,
    *examples.RETURNS_OUTPUT,
    *examples.RETURNS_OUTPUT_ONLY_MASKED,
    *examples.CALLS_BUILTIN_MASKED,
)
RIGHT: tuple[Example, ...] = (
    *examples.RIGHT_EVERY_LEVEL,
    *examples.RIGHT_SEPARATE_LAYERS,
    *examples.RIGHT_MASK_AND_DROPOUT,
)

__all__ = ["EXAMPLES", "FITTED", "NEUTRAL", "RIGHT", "TRAINING", "VALUES"]
