"""One window for each user and data folder: who is first, and what a later start tells the first.

The first start holds a lock on a file in the private runtime folder, which the kernel lets go of
however its holder ends, and listens on a socket beside it
(:class:`desktop.ui.single_instance.Listener`). A socket that a killed holder left behind is of no
importance: whoever gets the lock removes it. Nobody else can enter the folder, so neither another
user's start nor another user's message gets through.

A later start sends one line of JSON, ``{"open": [PATH…], "tokens": {NAME: VALUE}}``,
and is answered by the first one's process id on a line.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from desktop import paths
from desktop.launchers.base import LaunchError

# A first start that is on its way listens after its imports; one that is ending ends its server.
_WAIT_S = 20.0
_ANSWER_S = 3.0
#: What a window manager wants to see before it lets a window come to the front.
TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")


@dataclass
class Place:
    """The first start's: the path to listen on. Held until :meth:`leave` or the process's end."""

    lock: int
    socket: Path

    def leave(self) -> None:
        """Let the next start be the first one."""
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1


def take(files: Sequence[str] = (), wait: float = _WAIT_S) -> Place | int:
    """The place, or where another start has it, that one's process id once it has been told.

    ``files``: what this start was asked to open. Blocks for at most ``wait`` seconds, namely while
    another start is on its way up or down. Raises :class:`LaunchError` where another start has the
    place but does not answer, and :class:`desktop.paths.UnsafeFolder`.
    """
    import fcntl  # not on Windows, where a window is opened without asking for others

    folder = paths.runtime_dir()
    data = os.fsencode(paths.data_dir().absolute())
    name = f"window-{hashlib.sha256(data).hexdigest()[:8]}"
    lock = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    place, end = Place(lock, folder / name), time.monotonic() + wait
    while True:
        try:
            # A lock of the process, not of the open file: no child that was forked keeps it.
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return place
        except OSError:
            holder = _tell(place.socket, files)
        if holder is not None:
            place.leave()
            return holder
        if time.monotonic() > end:
            place.leave()
            raise LaunchError("Tritalk is running already, but it does not answer; end it first.")
        time.sleep(0.1)


def _tell(path: Path, files: Sequence[str]) -> int | None:
    """Hand over to whoever listens; its process id, None where nobody answers."""
    tokens = {name: os.environ[name] for name in TOKENS if os.environ.get(name)}
    message = {"open": [str(Path(each).absolute()) for each in files], "tokens": tokens}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_ANSWER_S)
        try:
            connection.connect(str(path))
            connection.sendall(json.dumps(message).encode() + b"\n")
            with connection.makefile("rb") as answers:
                answer = answers.readline(32).strip()
        except OSError:
            return None
    return int(answer) if answer.isdigit() else None
