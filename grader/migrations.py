"""The history's schema, as ordered steps. `PRAGMA user_version` says how many of them a database has had.

A step that was released is never edited: a change is a new step at the end. Every row has a `uuid` that stays
the same on every machine, and rows refer to each other by it, so that histories can be merged.
Times are UTC, ISO 8601 with microseconds, so that they sort as text.
"""

from __future__ import annotations

import sqlite3

_FIRST: tuple[str, ...] = (
    """
    CREATE TABLE starts (               -- a stub that was put into a folder, or work that was found there
        id          INTEGER PRIMARY KEY,
        uuid        TEXT NOT NULL UNIQUE,
        kata        TEXT NOT NULL,      -- the kata's id, e.g. v3
        at          TEXT NOT NULL,
        path        TEXT NOT NULL,      -- absolute path of the candidate's file
        folder      TEXT NOT NULL,      -- the folder it is in
        kind        TEXT NOT NULL       -- start, reset, or found (the file was there already)
    )
    """,
    "CREATE INDEX starts_by_path ON starts (path)",
    "CREATE INDEX starts_by_folder ON starts (folder)",
    """
    CREATE TABLE sources (              -- what was graded, byte for byte, each text once
        sha256      TEXT PRIMARY KEY,
        source      BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE attempts (             -- one grading
        id          INTEGER PRIMARY KEY,
        uuid        TEXT NOT NULL UNIQUE,
        kata        TEXT NOT NULL,
        at          TEXT NOT NULL,
        path        TEXT,               -- absolute path; NULL when it did not come from a file
        sha256      TEXT REFERENCES sources (sha256),   -- NULL when the file could not be read
        start_uuid  TEXT REFERENCES starts (uuid),      -- when work on this file began; NULL when not known
        origin      TEXT NOT NULL,      -- grade, watch, interview ...
        verdict     TEXT NOT NULL,      -- passed, failed, unrunnable or grader_error
        points      INTEGER NOT NULL,
        max_points  INTEGER NOT NULL,
        seconds     REAL NOT NULL,      -- what the grading took
        seed        INTEGER NOT NULL,
        hints       INTEGER NOT NULL,   -- hints taken up to then
        missed      TEXT NOT NULL,      -- required concepts without their points, separated by spaces
        grade       TEXT NOT NULL       -- the whole grade as JSON
    )
    """,
    "CREATE INDEX attempts_by_kata ON attempts (kata, at)",
    """
    CREATE TABLE hints (                -- a hint that was shown
        id          INTEGER PRIMARY KEY,
        uuid        TEXT NOT NULL UNIQUE,
        kata        TEXT NOT NULL,
        at          TEXT NOT NULL,
        number      INTEGER NOT NULL,   -- 1 is the first and mildest
        start_uuid  TEXT REFERENCES starts (uuid)       -- the sitting: a new start begins with no hints
    )
    """,
    """
    CREATE TABLE solutions_seen (       -- the reference was shown
        id          INTEGER PRIMARY KEY,
        uuid        TEXT NOT NULL UNIQUE,
        kata        TEXT NOT NULL,
        at          TEXT NOT NULL,
        gave_up     INTEGER NOT NULL    -- 1 when the kata had not been passed
    )
    """,
)

_INTERVIEWS: tuple[str, ...] = (
    """
    CREATE TABLE interviews (           -- one timed mock interview; what happened in it are its events
        id          INTEGER PRIMARY KEY,
        uuid        TEXT NOT NULL UNIQUE,
        at          TEXT NOT NULL,
        folder      TEXT NOT NULL,      -- where the candidate's files are
        katas       TEXT NOT NULL,      -- ids in order, separated by spaces; several are a ladder
        limits      TEXT NOT NULL,      -- seconds for each of them, separated by spaces
        practice    INTEGER NOT NULL,   -- 1: every save is graded at once, and there is no verdict
        guided      INTEGER NOT NULL,   -- 1: the file began as the stub, not as a blank page
        seed        INTEGER NOT NULL,   -- of all grades and of the choice of questions
        open        INTEGER NOT NULL    -- 1 until it is finished or aborted
    )
    """,
    "CREATE UNIQUE INDEX one_open_interview_a_folder ON interviews (folder) WHERE open = 1",
    """
    CREATE TABLE interview_events (     -- what happened, in the order of the ids; nothing is ever changed
        id          INTEGER PRIMARY KEY,
        uuid        TEXT NOT NULL UNIQUE,
        interview_uuid TEXT NOT NULL REFERENCES interviews (uuid),
        round       INTEGER NOT NULL,   -- which of the katas, from 0
        kind        TEXT NOT NULL,
        at          TEXT NOT NULL,      -- the wall clock when it was written down
        mono        REAL NOT NULL,      -- the monotonic clock of this boot, which stands still in sleep
        boot        TEXT NOT NULL,      -- which boot (or process) `mono` belongs to
        slept       REAL,               -- seconds this boot was asleep; NULL where that is not known
        elapsed     REAL NOT NULL,      -- the round's clock when it was written down
        seconds     REAL NOT NULL,      -- the round's clock when it happened
        sha256      TEXT REFERENCES sources (sha256),   -- the file's content, of a save
        data        TEXT NOT NULL       -- what belongs to the kind, as JSON
    )
    """,
    "CREATE INDEX interview_events_by_interview ON interview_events (interview_uuid, id)",
    """
    CREATE TABLE interview_grades (     -- a save that was graded after the fact, in short
        id          INTEGER PRIMARY KEY,
        uuid        TEXT NOT NULL UNIQUE,
        interview_uuid TEXT NOT NULL REFERENCES interviews (uuid),
        round       INTEGER NOT NULL,
        sha256      TEXT NOT NULL REFERENCES sources (sha256),
        verdict     TEXT NOT NULL,
        points      INTEGER NOT NULL,
        max_points  INTEGER NOT NULL,
        passed      TEXT NOT NULL,      -- concepts that got their points, separated by spaces
        UNIQUE (interview_uuid, round, sha256)
    )
    """,
)

_FIXES: tuple[str, ...] = (
    """
    CREATE TABLE fixes_seen (           -- the fix of what a grade found was shown; it counts as a hint
        id          INTEGER PRIMARY KEY,
        uuid        TEXT NOT NULL UNIQUE,
        kata        TEXT NOT NULL,
        at          TEXT NOT NULL,
        mistakes    TEXT NOT NULL,      -- labels, separated by spaces
        start_uuid  TEXT REFERENCES starts (uuid)       -- the sitting, as of hints
    )
    """,
)

_ROOMS: tuple[str, ...] = (
    """
    CREATE TABLE rooms (                -- a bug hunt: a file with mistakes planted in it
        id          INTEGER PRIMARY KEY,
        uuid        TEXT NOT NULL UNIQUE,
        kata        TEXT NOT NULL,
        at          TEXT NOT NULL,
        path        TEXT NOT NULL,      -- absolute path of the file
        folder      TEXT NOT NULL,      -- the folder it is in
        room        TEXT NOT NULL       -- seed, version of the content, text and bugs, as JSON
    )
    """,
    "CREATE INDEX rooms_by_path ON rooms (path)",
    """
    CREATE TABLE room_grades (          -- a grade of a room's file: no attempt at the kata
        id          INTEGER PRIMARY KEY,
        uuid        TEXT NOT NULL UNIQUE,
        room_uuid   TEXT NOT NULL REFERENCES rooms (uuid),
        at          TEXT NOT NULL,
        sha256      TEXT REFERENCES sources (sha256),
        verdict     TEXT NOT NULL,
        grade       TEXT NOT NULL       -- the whole grade as JSON
    )
    """,
    """
    CREATE TABLE room_reveals (         -- the bugs of a room were shown
        id          INTEGER PRIMARY KEY,
        uuid        TEXT NOT NULL UNIQUE,
        room_uuid   TEXT NOT NULL REFERENCES rooms (uuid),
        at          TEXT NOT NULL
    )
    """,
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST, _INTERVIEWS, _FIXES, _ROOMS)


def version(connection: sqlite3.Connection) -> int:
    """How many migrations this database has had."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, migrations: tuple[tuple[str, ...], ...] = MIGRATIONS) -> None:
    """Bring the database up to date, all missing steps in one transaction.

    `connection` is in autocommit mode. Two processes may do this at once: the second one waits for the write
    lock and then finds nothing left to do.
    """
    if version(connection) >= len(migrations):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in migrations[version(connection) :]:
            for statement in step:
                connection.execute(statement)
        done = max(version(connection), len(migrations))
        connection.execute(f"PRAGMA user_version = {done}")
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
