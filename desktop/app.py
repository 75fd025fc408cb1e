"""The composition root of the window: puts Qt, look, language, server and window together."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

NO_DISPLAY = "There is no display to open a window on."


def display_available() -> bool:
    """Whether a window could be opened. Asked before Qt is, because Qt aborts without a display."""
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def run_window(argv: Sequence[str]) -> int:
    """Open the window and stay until it is closed; the exit status.

    ``argv``: the program's arguments with its name first; Qt takes its own (``-platform``) out.
    The server is acquired in the background and released when the last window is gone.
    """
    if not display_available():
        print(NO_DISPLAY, file=sys.stderr)
        return 1

    from desktop import launchers
    from desktop.ui.application import Application

    return Application(
        list(argv),
        acquire=launchers.acquire,
        builtin=lambda: launchers.acquire("embedded"),
    ).run()
