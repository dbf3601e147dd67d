"""What can go wrong in v1."""

from __future__ import annotations

from kata_content.common import examples, fitted
from kata_content.common import mistakes as common

from grader.authoring import Example, Form

VALUES = (*common.VALUES, *common.CAUSAL_WITHOUT_MASK_STEP)
NEUTRAL: tuple[Form, ...] = ()
TRAINING = ()
FITTED = (fitted.SCALE,)
EXAMPLES: tuple[Example, ...] = (
    *examples.EVERY_LEVEL,
    *examples.SEPARATE_LAYERS,
    *examples.RETURNS_MIX,
    *examples.CALLS_BUILTIN,
)
RIGHT: tuple[Example, ...] = (
    *examples.RIGHT_EVERY_LEVEL,
    *examples.RIGHT_SEPARATE_LAYERS,
)

__all__ = ["EXAMPLES", "FITTED", "NEUTRAL", "RIGHT", "TRAINING", "VALUES"]
