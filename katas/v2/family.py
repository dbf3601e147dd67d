"""The structure of v2."""

from __future__ import annotations

from kata_content.common.single_head import V2 as FAMILY

__all__ = ["FAMILY"]
