"""Tracks: katas that belong together, in the order in which they are listed, practised and interviewed."""

from __future__ import annotations

import difflib
from pathlib import Path

import msgspec

from grader.errors import GraderFault, UsageError
from grader.records import Record


class Track(Record):
    """Katas that lead from one to the next. `kata.toml` names its track by `id`."""

    id: str
    title: str


class Tracks(Record):
    """All tracks in their order. `main` is where a newcomer begins, and the ladder when none is named."""

    main: str = ""
    tracks: tuple[Track, ...] = ()

    def get(self, track_id: str) -> Track:
        """The track of that id; raises `UsageError` with the nearest ids when there is none."""
        ids = [track.id for track in self.tracks]
        if track_id.lower() in ids:
            return self.tracks[ids.index(track_id.lower())]
        near = difflib.get_close_matches(track_id.lower(), ids, n=2, cutoff=0.4)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"There is no track '{track_id}'.{meant}", f"The tracks are: {', '.join(ids)}.")

    def place(self, track_id: str) -> int:
        """Where a track stands among the others; one that is not known stands last."""
        ids = [track.id for track in self.tracks]
        return ids.index(track_id) if track_id in ids else len(ids)

    def of(self, used: tuple[str, ...]) -> Tracks:
        """The tracks that are used, and those that nobody declared behind them, by their ids."""
        known = [track for track in self.tracks if track.id in used]
        ids = [track.id for track in self.tracks]
        others = [name for name in dict.fromkeys(used) if name not in ids]
        return Tracks(
            main=self.main if self.main in used or not used else used[0],
            tracks=(*known, *(Track(id=name, title=name.replace("-", " ").capitalize()) for name in others)),
        )


def load_tracks(path: Path) -> Tracks:
    """The order and the titles of the tracks; a broken file raises `GraderFault` with the place."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Tracks)
    except (OSError, msgspec.DecodeError) as error:
        raise GraderFault(f"{path}: {error}", "Mend the file; `kata lint` checks it.") from error
