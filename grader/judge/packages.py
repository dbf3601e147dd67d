"""Where a kata's own modules are found: `kata_content.v3.checks`, and `kata_content.<pack>.<kata>.checks`.

Whether content comes from a checkout, a wheel or somebody's folder, it is always below the package
`kata_content`. Each pack is a package of its own in there, so that its `common` stands beside ours.
"""

from __future__ import annotations

import importlib
import sys
import types

from grader.catalog import Catalog, Kata, content_root
from grader.errors import GraderFault

PACKAGE = "kata_content"


def install(catalog: Catalog) -> None:
    """The packages whose subpackages are the kata folders; content without `common` gets ours."""
    paths = {PACKAGE: [str(catalog.root / "katas"), str(content_root() / "katas")]}
    paths |= {f"{PACKAGE}.{pack.name}": [str(pack.root / "katas")] for pack in catalog.packs}
    present = {name: list(getattr(sys.modules.get(name), "__path__", ())) for name in paths}
    if present == paths:
        return
    for name in [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]:
        del sys.modules[name]
    for name, path in paths.items():
        package = types.ModuleType(name)
        package.__path__ = path
        sys.modules[name] = package


def load(kata: Kata, part: str) -> types.ModuleType:
    """One of the kata's modules; whatever goes wrong in it is a fault of the content, in one sentence."""
    pack = f"{kata.pack}." if kata.pack else ""
    try:
        return importlib.import_module(f"{PACKAGE}.{pack}{kata.folder.name}.{part}")
    except Exception as error:
        said = str(error).partition("\n")[0]
        raise GraderFault(
            f"kata {kata.id}: its code does not load ({part}.py: {type(error).__name__}: {said})",
            f"`kata lint {kata.id}` looks at it.",
        ) from error
