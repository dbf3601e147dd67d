"""What can be asked for by name, for a command that is not to load the rest."""

from __future__ import annotations

from typing import Literal, get_args

Layout = Literal["auto", "moodle", "canvas", "gradescope", "nbgrader", "classroom", "folders", "files"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)

Attempts = Literal["latest", "best", "all"]
ATTEMPTS: tuple[Attempts, ...] = get_args(Attempts)

Book = Literal["plain", "moodle", "canvas"]
BOOKS: tuple[Book, ...] = get_args(Book)
