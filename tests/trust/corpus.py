"""The attack files and what each must meet."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
OWN = HERE.parent / "attacks"  # a sample of our own, so that the project stands alone
WHOLE = HERE.parents[2] / "shared" / "attacks"  # the whole corpus, where it lies beside the project


@dataclass(frozen=True)
class Case:
    """One file: what it does, and whether an honest grader passes it."""

    file: Path
    name: str
    kata: str
    family: str
    does: str
    want: str

    @property
    def passes(self) -> bool:
        return self.want == "passed"


def load(folder: Path) -> list[Case]:
    """The cases of a corpus, in the order of its `expected.jsonl`."""
    lines = (folder / "expected.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        Case(
            folder / entry["file"], entry["file"].removeprefix("../../").removesuffix(".py"), **_words(entry)
        )
        for entry in map(json.loads, filter(None, lines))
    ]


def _words(entry: dict[str, str]) -> dict[str, str]:
    return {name: entry[name] for name in ("kata", "family", "does", "want")}


def corpora() -> list[Path]:
    """What there is to run: our own sample, and the whole corpus where it is."""
    return [folder for folder in (OWN, WHOLE) if (folder / "expected.jsonl").is_file()]
