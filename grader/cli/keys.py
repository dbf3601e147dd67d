"""Single keys from the terminal, without Enter; nothing where standard input is no terminal."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def keys(press: Callable[[str], None]) -> Iterator[bool]:
    """While the block runs, `press` gets each key, in another thread. Yields whether there are any."""
    if os.name != "posix" or not sys.stdin.isatty():
        yield False
        return
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    wake, waker = os.pipe()
    reader = threading.Thread(target=_read, args=(terminal, wake, press), name="keys", daemon=True)
    try:
        tty.setcbreak(terminal)  # Ctrl-C stays a signal
        reader.start()
        yield True
    finally:
        os.close(waker)
        reader.join()
        os.close(wake)
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _read(terminal: int, wake: int, press: Callable[[str], None]) -> None:
    while True:
        ready, _, _ = select.select([terminal, wake], [], [])
        if wake in ready:
            return
        typed = os.read(terminal, 16)
        if not typed:
            return
        for key in typed.decode(errors="replace"):
            press(key)
