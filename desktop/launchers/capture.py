"""The server's output, bounded: the last lines in memory, and a file that is rotated."""

from __future__ import annotations

import codecs
import collections
import os
import re
from pathlib import Path

MAX_FILE_BYTES = 1 << 20
MAX_LINES = 2000
# A crashing tritonserver prints stack traces as single lines of many kilobytes.
MAX_LINE_CHARACTERS = 2000
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_ERROR = re.compile(r"^(E\d{4}|\S+ E\s|Error\b|\S+Error\b|error\b|.*error while loading)")


class BoundedLog:
    """Keeps the last :data:`MAX_LINES` lines in memory and about twice :data:`MAX_FILE_BYTES` on
    disk (``path`` and ``path.1``, mode 0600). ``secrets`` are replaced before anything is kept.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.secrets: list[str] = []
        self.lines: collections.deque[str] = collections.deque(maxlen=MAX_LINES)
        self._rest = ""
        # A character may be cut in two between chunks.
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._open()

    def feed(self, chunk: bytes) -> None:
        """Take output as it comes; an unfinished line waits for its end, but not without bound."""
        text = self._rest + self._decoder.decode(chunk)
        *lines, self._rest = text.split("\n")
        for line in lines:
            self.add(line)
        if len(self._rest) > 2 * MAX_LINE_CHARACTERS:
            # Cleaned first, so that no secret is cut in two and kept by halves.
            self._rest = self._clean(self._rest)[:MAX_LINE_CHARACTERS]

    def add(self, line: str) -> None:
        line = self._clean(line).rstrip()
        if not line:
            return
        if len(line) > MAX_LINE_CHARACTERS:
            line = line[:MAX_LINE_CHARACTERS] + " …"
        self.lines.append(line)
        if self._size > MAX_FILE_BYTES:
            self._rotate()
        self._file.write(line + "\n")
        self._file.flush()
        self._size += len(line.encode(errors="replace")) + 1

    def _clean(self, text: str) -> str:
        text = _ESCAPES.sub("", text)
        for secret in self.secrets:
            text = text.replace(secret, "<key>")
        return text

    def last_error(self) -> str:
        """The last line that reports an error, else the last line, else nothing."""
        for line in reversed(self.lines):
            if _ERROR.match(line):
                return line
        return self.lines[-1] if self.lines else ""

    def close(self) -> None:
        if self._rest:
            self.add(self._rest)
            self._rest = ""
        self._file.close()

    def _open(self) -> None:
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._size = os.fstat(descriptor).st_size
        self._file = os.fdopen(descriptor, "a", encoding="utf-8", errors="replace")

    def _rotate(self) -> None:
        self._file.close()
        self.path.replace(self.path.with_name(self.path.name + ".1"))
        self._open()


def tail(path: Path, count: int) -> list[str]:
    """The last ``count`` lines of a log written by :class:`BoundedLog`, oldest first."""
    lines: list[str] = []
    for part in (path, path.with_name(path.name + ".1")):
        if len(lines) >= count or not part.exists():
            break
        lines = part.read_text(encoding="utf-8", errors="replace").splitlines() + lines
    return lines[-count:] if count > 0 else []
