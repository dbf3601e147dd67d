"""The structure of v1."""

from __future__ import annotations

from kata_content.common.single_head import V1 as FAMILY

__all__ = ["FAMILY"]
