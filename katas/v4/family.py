"""The structure of v4."""

from __future__ import annotations

from kata_content.common.single_head import V4 as FAMILY

__all__ = ["FAMILY"]
