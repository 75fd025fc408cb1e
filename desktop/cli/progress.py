"""The progress of a run over a file, on standard error."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from desktop.addresses.run import Progress

_WIDTH = 24
_TERMINAL_SECONDS = 0.1
_LOG_SECONDS = 5.0


class ProgressBar:
    """Redrawn in place on a terminal, else a line every few seconds."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._live = self._stream.isatty()
        self._every = _TERMINAL_SECONDS if self._live else _LOG_SECONDS
        self._shown = time.monotonic() if not self._live else 0.0
        self._drawn = False

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        last = progress.phase == "writing"
        if now - self._shown < self._every and not last:
            return
        self._shown = now
        line = describe(progress)
        if self._live:
            self._stream.write(f"\r\x1b[2K{line}")
            self._drawn = True
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()

    def end(self) -> None:
        if self._drawn:
            self._stream.write("\n")
            self._stream.flush()
            self._drawn = False


def describe(progress: Progress) -> str:
    """``[####····]  4,200/10,000  42 %  310/s  0:19 left``"""
    share = progress.done / progress.total if progress.total else 1.0
    full = int(share * _WIDTH)
    words = [
        f"[{'#' * full}{'.' * (_WIDTH - full)}]",
        f"{progress.done:,}/{progress.total:,}",
        f"{int(share * 100)} %",
        f"{progress.rate:,.0f}/s",
    ]
    if progress.phase == "writing":
        words.append("writing")
    elif progress.seconds_left is not None:
        words.append(f"{duration(progress.seconds_left)} left")
    if progress.errors:
        words.append(f"{progress.errors:,} not parsed")
    return "  ".join(words)


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
