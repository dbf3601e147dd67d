"""The editor's bundle is what its lock file says, with the licence of everything in it."""

from __future__ import annotations

import json
import re

from tests.packaging.project import ROOT
from tools.editor import BUNDLE, LICENCES, SOURCE, packages

LOCK = json.loads((SOURCE / "package-lock.json").read_text(encoding="utf-8"))["packages"]
INSIDE = {
    path.removeprefix("node_modules/"): entry["version"]
    for path, entry in LOCK.items()
    if path and not entry.get("dev") and not entry.get("devOptional")
}


def test_every_package_of_the_lock_file_is_there_with_its_licence() -> None:
    text = LICENCES.read_text(encoding="utf-8")
    assert len(INSIDE) > 8
    assert [name for name, version in INSIDE.items() if f"{name} {version}\n" not in text] == []
    assert text.count("Permission is hereby granted, free of charge") == len(INSIDE)


def test_every_version_is_one_and_is_locked() -> None:
    asked = json.loads((SOURCE / "package.json").read_text(encoding="utf-8"))
    wanted = {**asked["dependencies"], **asked["devDependencies"]}
    assert {name: LOCK[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert all("integrity" in entry for path, entry in LOCK.items() if path)


def test_the_bundle_asks_nobody_and_is_no_larger_than_it_was() -> None:
    text = BUNDLE.read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[\w./-]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert re.findall(r"\bimport *[{*(]|\b(?:fetch|XMLHttpRequest|WebSocket|EventSource)\(", text) == []
    assert len(text) < 500_000
    assert BUNDLE.is_relative_to(ROOT / "templates")


def test_a_package_is_found_in_the_path_of_its_file() -> None:
    inputs: dict[str, object] = {
        "editor.js": 1,
        "node_modules/@lezer/common/dist/index.js": 1,
        "node_modules/crelt/index.js": 1,
        "node_modules/a/node_modules/b/x.js": 1,
    }
    assert packages(inputs) == ["@lezer/common", "b", "crelt"]
