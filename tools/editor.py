"""Build the editor of `kata web` from its source and lock file, with the licences of all that is in it.

    python tools/editor.py            npm and Node.js are needed; the bundle is written
    python tools/editor.py --check    nothing is written; ends with 1 when the bundle is not what is built

The bundle is in the repository and in the package: nobody needs npm to install or to run `kata`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tools" / "editor"
BUNDLE = ROOT / "templates" / "web" / "static" / "editor.js"
LICENCES = BUNDLE.with_name("editor.licences.txt")
TARGET = "es2022"


def main() -> int:
    """Build in a folder of its own; write what came of it, or compare it with what is there."""
    parser = argparse.ArgumentParser(description="Build the editor of `kata web`.")
    parser.add_argument("--check", action="store_true", help="compare only")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        built = build(Path(folder))
    stale = [
        path.name for path, content in built.items() if not path.is_file() or path.read_bytes() != content
    ]
    if check:
        print(f"Not what is built: {', '.join(stale)}. Run tools/editor.py." if stale else "As it is built.")
        return bool(stale)
    for path, content in built.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(f"{path.relative_to(ROOT)}: {len(content)} bytes")
    return 0


def build(folder: Path) -> dict[Path, bytes]:
    """The files, by where they belong. Only what the lock file names is installed, and none of it is run."""
    for path in SOURCE.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    run(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    run(
        folder,
        "node",
        "node_modules/esbuild/bin/esbuild",
        "editor.js",
        "--bundle",
        "--format=esm",
        "--minify",
        "--charset=utf8",
        "--legal-comments=none",
        f"--target={TARGET}",
        "--metafile=meta.json",
        "--outfile=built.js",
    )
    inside = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["inputs"]
    licences = "\n".join(licence(folder, package) for package in packages(inside))
    return {BUNDLE: (folder / "built.js").read_bytes(), LICENCES: licences.encode()}


def packages(inputs: dict[str, object]) -> list[str]:
    """The packages that a bundle is made of."""
    return sorted({name for path in inputs for name in package_of(path)})


def package_of(path: str) -> Iterator[str]:
    """The package that a file belongs to; none for our own."""
    _, found, inside = path.rpartition("node_modules/")
    if found:
        parts = inside.split("/")
        yield "/".join(parts[:2] if parts[0].startswith("@") else parts[:1])


def licence(folder: Path, package: str) -> str:
    """Name, version and the whole licence; a package without one raises."""
    home = folder / "node_modules" / package
    version = json.loads((home / "package.json").read_text(encoding="utf-8"))["version"]
    [text] = [path for path in home.iterdir() if path.name.upper().startswith("LICEN")]
    return f"{package} {version}\n\n{text.read_text(encoding='utf-8').strip()}\n"


def run(folder: Path, *words: str) -> None:
    """A step that must go well."""
    subprocess.run(words, cwd=folder, check=True)


if __name__ == "__main__":
    sys.exit(main())
