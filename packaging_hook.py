"""What a build adds: the content of the wheel, and the addresses of the project.

The katas, their solutions and the templates go into the wheel as `grader/_content/<name>`. An editable
install reads them from the checkout instead (see `grader.catalog.content_root`): a copy there would only go
stale.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

CONTENT = ("katas", "solutions", "templates", "packaging")


class ContentHook(BuildHookInterface[Any]):
    """Runs before a wheel is written."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the content of a wheel; `version` is "standard" or "editable"."""
        if version != "standard":
            return
        root = Path(self.root)
        for name in CONTENT:
            files = content_files(root / name)
            if not files:
                raise FileNotFoundError(f"{root / name}: nothing there, and the wheel needs it")
            for path in files:
                inside = path.relative_to(root).as_posix()
                build_data["force_include"][str(path)] = f"grader/_content/{inside}"


class UrlsHook(MetadataHookInterface):
    """Runs before metadata is written."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the project's addresses, none when it is not built where it is published."""
        metadata["urls"] = urls(os.environ)


def urls(environment: Mapping[str, str]) -> dict[str, str]:
    """The addresses in the repository that a workflow builds: true for a fork's release, too."""
    server, name = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_REPOSITORY")
    if not server or not name:
        return {}
    home = f"{server}/{name}"
    return {
        "Homepage": home,
        "Documentation": f"{home}#readme",
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }


def content_files(folder: Path) -> list[Path]:
    """The files below `folder`, sorted; without bytecode, and without what hides behind a dot."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not _is_stray(path.relative_to(folder).parts) and path.suffix != ".pyc"
    )


def _is_stray(parts: tuple[str, ...]) -> bool:
    return any(part == "__pycache__" or part.startswith(".") for part in parts)
