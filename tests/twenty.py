"""A catalog of twenty katas in five tracks, the last of which nobody declared."""

from __future__ import annotations

import msgspec

from grader.catalog import Catalog, in_order
from grader.tracks import load_tracks

TWENTY = [
    ("warm-up", "softmax"),
    ("warm-up", "padding"),
    *(("self-attention", f"v{number}") for number in range(1, 7)),
    *(("heads", name) for name in ("mha", "causal", "cross", "gqa", "mqa", "sparse")),
    *(("inference", name) for name in ("rope", "cache", "online", "window")),
    *(("positions-of-tokens", name) for name in ("learned", "alibi")),
]


def twenty_katas(catalog: Catalog) -> Catalog:
    """Within a track the last of `TWENTY` is the first: its level is the lowest."""
    v3 = catalog.get("v3")
    katas = [
        msgspec.structs.replace(
            v3,
            id=name,
            track=track,
            level=number,
            title=f"{name} {'a long title ' * 3}",
            file_name=f"{name}.py",
            prerequisites=("window",) if name == "online" else (),
        )
        for number, (track, name) in enumerate(reversed(TWENTY))
    ]
    return in_order(katas, load_tracks(catalog.root / "katas" / "tracks.toml"), catalog.root)
