"""The composition root of the window: puts Qt, look, language, server and window together."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

NO_DISPLAY = "There is no display to open a window on."


def display_available() -> bool:
    """Whether a window could be opened. Asked before Qt is, because Qt aborts without a display."""
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def run_window(argv: Sequence[str], files: Sequence[str] = ()) -> int:
    """Open the window and stay until it is closed; the exit status.

    ``argv``: the program's arguments with its name first; Qt takes its own (``-platform``) out.
    ``files``: to be opened in it. Where a window is open already it is brought up instead, and
    opens them. The server is acquired in the background and released when the last window is gone.
    Raises :class:`LaunchError` or :class:`UnsafeFolder` where the one window cannot be had.
    """
    if not display_available():
        print(NO_DISPLAY, file=sys.stderr)
        return 1

    from desktop import input_method, instance, launchers, memory

    place = None if sys.platform == "win32" else instance.take(files)
    if isinstance(place, int):
        print(f"Tritalk is open already (process {place}); its window was brought up.")
        return 0

    typing = input_method.prepare(os.environ)

    from desktop.ui.application import Application

    application = Application(
        list(argv),
        acquire=launchers.acquire,
        builtin=lambda: launchers.acquire("embedded"),
        check=memory.check_launch,
    )
    if place is not None:
        application.listen(place)
    if typing.problem:
        application.tell(typing.problem)
    for file in files:
        application.open_file(Path(file))
    return application.run()
