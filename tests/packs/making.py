"""Packs for the tests: folders as an author has them, with a kata that is ours under another name."""

from __future__ import annotations

import shutil
from pathlib import Path

from grader.catalog import content_root
from grader.packs import CONTENT_API


def make_pack(
    root: Path, *katas: str, name: str = "demo", version: str = "0.3", api: int = CONTENT_API
) -> Path:
    """A pack whose katas are v1 in another name, with a class of theirs."""
    root.mkdir(parents=True)
    (root / "pack.toml").write_text(
        f'name = "{name}"\nversion = "{version}"\ncontent_api = {api}\n', encoding="utf-8"
    )
    for kata in katas:
        add_kata(root, kata)
    return root


def add_kata(root: Path, kata: str) -> Path:
    """One more kata; returns its folder."""
    folder = root / "katas" / kata
    shutil.copytree(
        content_root() / "katas" / "v1", folder, ignore=shutil.ignore_patterns("__pycache__", "rooms")
    )
    (root / "solutions").mkdir(exist_ok=True)
    solution = Path(shutil.copy(content_root() / "solutions" / "v1.py", root / "solutions" / f"{kata}.py"))
    for path in (*folder.iterdir(), solution):
        edit(path, "SelfAttentionV1", kata.capitalize())
    edit(folder / "kata.toml", 'id = "v1"', f'id = "{kata}"')
    edit(folder / "kata.toml", 'track = "self-attention"\n', "")
    edit(folder / "kata.toml", "self_attention_v1.py", f"{kata}.py")
    return folder


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(old, new), encoding="utf-8")


def add_label(root: Path, *labels: str) -> Path:
    """Words for mistakes in the pack's own `common`."""
    path = root / "katas" / "common" / "mistakes.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "concept = 'scale'\nseen = 'output'\nshows = 'a'\nsentence = 'A.'\nfix = 'B.'\nwhy = 'C.'\n"
    with path.open("a", encoding="utf-8") as opened:
        for label in labels:
            opened.write(f"[{label}]\n{lines}\n")
    return path
