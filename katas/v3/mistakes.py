"""What can go wrong in v3, and its plan."""

from __future__ import annotations

from kata_content.common import mistakes as common
from kata_content.common.steps import MASKED_WITH_OUTPUT as PLAN

from grader.authoring import Example

VALUES = common.MASKED_VALUES
TRAINING = common.TRAINING
EXAMPLES: tuple[Example, ...] = ()

__all__ = ["EXAMPLES", "PLAN", "TRAINING", "VALUES"]
