"""`%load_ext grader.notebook`: grade a cell, and be told its mistake by the line of the cell.

A shell over the same functions as the command line, with no logic of its own.

- `cells`: a cell with the imports that it needs as an answer, and a grade told in the cell's own lines
- `magic`: `%%kata` and `%kata`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.errors import UsageError

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Called by `%load_ext`."""
    try:
        from grader.notebook.magic import KataMagics
    except ModuleNotFoundError as error:
        raise UsageError(
            f"Notebooks need {error.name}, which is not installed here.",
            "Install it: pip install 'attention-kata[notebook]'",
        ) from error
    shell.register_magics(KataMagics)
