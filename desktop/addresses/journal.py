"""What a run has answered so far, in a file beside its output, so that the next run goes on there.

One JSON object a line: first what the run is about, then a result for each row in order. A line
that a sudden end cut short is dropped.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from desktop.triton.types import InvalidInput

VERSION = 1
# A killed program loses nothing that was written; the disk is synced now and then for the case of a
# power cut.
_SYNC_SECONDS = 2.0


def fingerprint(path: Path) -> str:
    """SHA-256 of a file's content."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


class Journal:
    """Append-only. ``done`` is the number of rows that are answered.

    ``about`` is what the results depend on; a journal of another source or column is begun anew.
    Raises InvalidInput when another run holds it.
    """

    def __init__(self, output: Path, about: dict[str, Any]) -> None:
        self.path = output.with_name(f".{output.name}.journal")
        header = {"version": VERSION, **about}
        try:
            self._stream: IO[bytes] = self.path.open("a+b")
        except OSError as error:
            raise InvalidInput(f"{output} cannot be written: {error.strerror}") from error
        self._lock(output)
        self.done = 0
        self.errors = 0
        if not self._read(header):
            self._stream.truncate(0)
            self._append(header)
        self._synced = time.monotonic()

    def _lock(self, output: Path) -> None:
        try:
            import fcntl
        except ImportError:  # Windows
            return
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._stream.close()
            raise InvalidInput(f"another run is writing {output}; wait for it") from None

    def _read(self, header: dict[str, Any]) -> bool:
        """Counts the results and cuts off a torn end; whether it is this run's journal."""
        self._stream.seek(0)
        end = 0
        for number, line in enumerate(self._stream):
            if not line.endswith(b"\n"):
                break
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                break
            if not isinstance(entry, dict):
                break
            if number == 0:
                if entry != header:
                    return False
            else:
                self.done += 1
                self.errors += "error" in entry
            end += len(line)
        self._stream.truncate(end)
        self._stream.seek(0, os.SEEK_END)
        return end > 0

    def _append(self, entry: dict[str, Any]) -> None:
        line = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
        self._stream.write(line.encode("utf-8", "replace") + b"\n")

    def add(self, result: dict[str, Any]) -> None:
        self._append(result)
        self.done += 1
        self.errors += "error" in result
        # In the hands of the system at once: what is answered survives this program.
        self._stream.flush()
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            os.fsync(self._stream.fileno())
            self._synced = time.monotonic()

    def results(self) -> Iterator[dict[str, Any]]:
        self._stream.flush()
        with self.path.open("rb") as stream:
            next(stream)
            for line in stream:
                yield json.loads(line)

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()
            os.fsync(self._stream.fileno())
        self._stream.close()
