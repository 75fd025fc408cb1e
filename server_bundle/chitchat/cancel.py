"""Cancel flags that a calling model and the engine both see, as Triton 24.10 forwards no cancel.

When a client leaves, only the model it called learns of it; a BLS call that this model has under
way goes on. So the caller makes a small file of flags, one byte a call, and hands the engine a key
``name:index``; the engine maps the file and reads the byte before every step. The caller also
holds a lock on the file for as long as it lives: an engine that gets it knows the caller died.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import re
import secrets
import threading
import time
from collections import deque
from pathlib import Path

_NAME = re.compile(r"cancel-[0-9a-f]{16}")
_SIZE = 4096
_LIVENESS_SECONDS = 0.1


class InvalidCancelKey(ValueError):
    """The key names no flag file of this server."""


def parts(key: str) -> tuple[str, int]:
    """The caller's name and its number for the call, of a key that :meth:`CancelReader.check`
    passed."""
    name, _, index = key.partition(":")
    return name, int(index)


class CancelFlags:
    """The caller's side: hands out flags; thread-safe.

    Args:
        directory: a private directory that caller and engine share, the same for both.
    """

    def __init__(self, directory: Path) -> None:
        self.name = f"cancel-{secrets.token_hex(8)}"
        self._path = directory / self.name
        # Locked before it is visible under its name: an engine must never find it unlocked.
        hidden = directory / f".{self.name}"
        self._file = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        os.ftruncate(self._file, _SIZE)
        hidden.rename(self._path)
        self._map = mmap.mmap(self._file, _SIZE)
        # First in, first out: a flag is used again only long after its last reader looked away.
        self._free = deque(range(_SIZE))
        self._lock = threading.Lock()

    def take(self) -> tuple[int, str]:
        """A cleared flag: its index and the key to hand to the engine."""
        with self._lock:
            if not self._free:
                raise RuntimeError(f"more than {_SIZE} calls at once")
            index = self._free.popleft()
            self._map[index] = 0
        return index, f"{self.name}:{index}"

    def cancel(self, index: int) -> None:
        self._map[index] = 1

    def give_back(self, index: int) -> None:
        with self._lock:
            self._free.append(index)

    def close(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()
        self._map.close()
        os.close(self._file)


class _Mapped:
    def __init__(self, path: Path) -> None:
        self.file = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        self.map = mmap.mmap(self.file, _SIZE, prot=mmap.PROT_READ)
        self.looked = time.monotonic()
        self.dead = False

    def owner_died(self) -> bool:
        now = time.monotonic()
        if not self.dead and now - self.looked >= _LIVENESS_SECONDS:
            self.looked = now
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self.file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                self.dead = True
        return self.dead

    def close(self) -> None:
        self.map.close()
        os.close(self.file)


class CancelReader:
    """The engine's side: reads flags by key. Used from one thread at a time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files: dict[str, _Mapped] = {}

    def check(self, key: str) -> None:
        """Raises :class:`InvalidCancelKey` unless ``key`` names a flag that can be read."""
        name, _, index = key.partition(":")
        if not _NAME.fullmatch(name) or not re.fullmatch(r"\d{1,4}", index) or int(index) >= _SIZE:
            raise InvalidCancelKey(f"cancel_key {key[:60]!r} has not the form of one")
        if not (self._directory / name).is_file():
            raise InvalidCancelKey(f"cancel_key {key[:60]!r} is unknown to this server")

    def is_cancelled(self, key: str) -> bool:
        """Whether the flag is set or its owner died."""
        name, index = parts(key)
        mapped = self._files.get(name)
        if mapped is None:
            try:
                mapped = self._files[name] = _Mapped(self._directory / name)
            except (OSError, ValueError):  # gone, or empty: its owner ended
                return True
        if mapped.map[index]:
            return True
        if mapped.owner_died():
            del self._files[name]
            mapped.close()
            with contextlib.suppress(OSError):
                (self._directory / name).unlink()
            return True
        return False

    def close(self) -> None:
        for mapped in self._files.values():
            mapped.close()
        self._files.clear()
