"""The structure of v3."""

from __future__ import annotations

from kata_content.common.single_head import V3 as FAMILY

__all__ = ["FAMILY"]
