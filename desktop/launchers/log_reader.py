"""Follows a log that :class:`desktop.launchers.capture.BoundedLog` writes, over its rotations."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import IO


class Level(IntEnum):
    INFO = 0
    WARNING = 1
    ERROR = 2


@dataclass(frozen=True)
class LogLine:
    text: str
    level: Level


# Triton's two formats of a line's beginning: 2026-11-29T22:22:55Z W 1493 …, and W1129 22:22:55 …
_TRITON = re.compile(r"(?:\d{4}-\d\d-\d\dT[\d:.]+Z? ([IWEF]) \d|([IWEF])\d{4} [\d:.]+ )")
_LEVELS = {"I": Level.INFO, "W": Level.WARNING, "E": Level.ERROR, "F": Level.ERROR}
_WARNING = re.compile(r"\[WARN\]|WARNING\b|\S+ \w*Warning: ")
_ERROR = re.compile(r"Traceback \(|\[ERR|\S*(Error|Exception): |(?i:error)\b")
_OURS = "tritalk: "


def level_of(text: str, before: Level) -> Level:
    """The level of a line; one that does not begin a message belongs to the line before it."""
    if found := _TRITON.match(text):
        return _LEVELS[found[1] or found[2]]
    if text.startswith(_OURS):
        return Level.INFO
    if _WARNING.match(text):
        return Level.WARNING
    if _ERROR.match(text):
        return Level.ERROR
    return before


class LogReader:
    """Hands out lines as they come, each once; at first at most the last ``most`` lines."""

    def __init__(self, path: Path, most: int) -> None:
        self._path = path
        self._most = most
        self._file: IO[bytes] | None = None
        self._rest = b""
        self._level = Level.INFO
        self._begun = False

    def read(self) -> list[LogLine]:
        """The lines since the last call; none where no server has ever run. Blocks for a moment.
        Raises OSError where the log cannot be read."""
        lines: list[bytes] = []
        if not self._begun:
            older = self._path.with_name(self._path.name + ".1")
            if older.exists():
                lines += older.read_bytes().splitlines()
            self._begun = True
        if self._file is None and not self._open():
            return self._leveled(lines)
        lines += self._new_lines()
        if self._rotated():
            # What came before the rotation was read above, from the file that has moved away.
            self._close()
            if self._open():
                lines += self._new_lines()
        return self._leveled(lines)

    def close(self) -> None:
        self._close()

    def _open(self) -> bool:
        try:
            self._file = self._path.open("rb")
        except FileNotFoundError:
            return False
        self._rest = b""
        return True

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _new_lines(self) -> list[bytes]:
        assert self._file is not None
        *lines, self._rest = (self._rest + self._file.read()).split(b"\n")
        return lines

    def _rotated(self) -> bool:
        assert self._file is not None
        try:
            return not os.path.samestat(self._path.stat(), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return True

    def _leveled(self, lines: list[bytes]) -> list[LogLine]:
        found = []
        for line in lines:
            text = line.decode("utf-8", "replace").rstrip("\r")
            if text:
                self._level = level_of(text, self._level)
                found.append(LogLine(text, self._level))
        return found[-self._most :]
