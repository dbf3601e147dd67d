"""A throw-away place for one hostile file: canaries to steal, listeners to reach, and an eye on every change.

Layout and placeholders are those that the attack files expect: `trust_arena_<id>/{attack,home,work}`, with
`@ATTACK_DIR@` and `@ATTACK_PORT@` replaced in the copied file. Outside such a folder they do nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import runpy
import secrets
import socket
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Entry = tuple[int, int, int, str]  # mode, time of the last change, owner, digest or link


@dataclass
class Arena:
    """One attack's surroundings."""

    root: Path
    canaries: tuple[str, ...]
    listeners: tuple[socket.socket, ...]
    port: int

    @property
    def attack(self) -> Path:
        return self.root / "attack"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def environment(self) -> dict[str, str]:
        """What the grader is started with; the last one is a secret that must not come out again."""
        return {
            "HOME": str(self.home),
            "ATTACK_DIR": str(self.attack),
            "ATTACK_PORT": str(self.port),
            "GRADER_TOKEN": self.canaries[1],
        }

    def put(self, file: Path) -> Path:
        """The submission: a copy with the placeholders replaced, or what a generator makes of it."""
        name = file.name.removeprefix("gen_")
        place = self.work / name
        if file.name.startswith("gen_"):
            make: Any = runpy.run_path(str(file))["make"]
            make(str(place))
            return place
        text = file.read_bytes()
        text = text.replace(b"@ATTACK_DIR@", os.fsencode(self.attack))
        place.write_bytes(text.replace(b"@ATTACK_PORT@", str(self.port).encode()))
        return place

    def give_to(self, user: int) -> None:
        """Let an ordinary user own all of it."""
        for path in (self.root, *self.root.rglob("*")):
            os.chown(path, user, user, follow_symlinks=False)

    def tree(self) -> dict[str, Entry]:
        """Everything in it, as a later look is compared with."""
        return {str(path.relative_to(self.root)): _entry(path) for path in sorted(self.root.rglob("*"))}

    def arrived(self) -> list[str]:
        """What reached the listeners."""
        found = []
        for listener in self.listeners:
            with contextlib.suppress(BlockingIOError):
                if listener.type == socket.SOCK_DGRAM:
                    found.append(f"datagram {listener.recv(200)!r}")
                else:
                    listener.accept()[0].close()
                    found.append(f"connection to {listener.getsockname()!r}")
        return found


@contextlib.contextmanager
def open_arena(parent: Path, user: int | None = None) -> Iterator[Arena]:
    """A new arena below `parent`, owned by `user`; removed afterwards."""
    identity = secrets.token_hex(6)
    root = parent / f"trust_arena_{identity}"
    for folder in (root, root / "attack", root / "home", root / "work"):
        folder.mkdir()
        folder.chmod(0o755)
    canaries = (f"CANARY-home-{secrets.token_hex(8)}", f"CANARY-env-{secrets.token_hex(8)}")
    (root / "home" / "secret.txt").write_text(canaries[0], encoding="utf-8")
    with contextlib.ExitStack() as stack:
        tcp, udp = _pair(stack)
        stream = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        stream.bind(str(root / "attack" / "listener.sock"))
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        abstract.bind(f"\0trust_arena_{identity}")
        for listener in (tcp, stream, abstract):
            listener.listen(8)
        listeners = (tcp, udp, stream, abstract)
        for listener in listeners:
            listener.setblocking(False)
        arena = Arena(root, canaries, listeners, tcp.getsockname()[1])
        if user is not None:
            arena.give_to(user)
        try:
            yield arena
        finally:
            _remove(root)


def _pair(stack: contextlib.ExitStack) -> tuple[socket.socket, socket.socket]:
    """A TCP and a UDP socket with one number."""
    while True:
        tcp = stack.enter_context(socket.socket())
        tcp.bind(("127.0.0.1", 0))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        try:
            udp.bind(tcp.getsockname())
        except OSError:
            continue
        return tcp, udp


def _entry(path: Path) -> Entry:
    found = path.lstat()
    content = ""
    if stat.S_ISLNK(found.st_mode):
        content = str(path.readlink())
    elif stat.S_ISREG(found.st_mode):
        with contextlib.suppress(PermissionError):  # its mode and time are compared all the same
            content = hashlib.sha256(path.read_bytes()).hexdigest()
    return found.st_mode, found.st_mtime_ns, found.st_uid, content


def _remove(root: Path) -> None:
    for folder, _, _ in os.walk(root):
        Path(folder).chmod(0o700)
    for folder, folders, files in os.walk(root, topdown=False):
        for name in files:
            (Path(folder) / name).unlink()
        for name in folders:
            path = Path(folder) / name
            path.unlink() if path.is_symlink() else path.rmdir()
    root.rmdir()
