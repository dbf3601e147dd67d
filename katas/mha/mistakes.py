"""What can go wrong in mha."""

from __future__ import annotations

from kata_content.common.examples import edited
from kata_content.heads import examples
from kata_content.heads import mistakes as heads

from grader.authoring import Example

VALUES = heads.VALUES
NEUTRAL = heads.NEUTRAL
TRAINING = heads.TRAINING
FITTED = heads.FITTED
EXAMPLES: tuple[Example, ...] = (
    *examples.EXAMPLES,
    edited("mask_dtype_assumed_bool", ("attention_mask == 0", "~attention_mask")),
    edited("mask_not_optional", ("if attention_mask is not None:\n", "if True:\n")),
    edited("mutates_mask_argument", ("attention_mask == 0", "attention_mask.logical_not_() == 1")),
    edited("hard_coded_sizes", ("self.num_heads = num_heads", "self.num_heads = 12")),
)
RIGHT: tuple[Example, ...] = examples.RIGHT
GATES: tuple[Example, ...] = (*examples.GATES, examples.ORDER)
