"""Whether a window can be shown here, found out without risking Qt's abort."""

from __future__ import annotations

import os
import re
import socket
import sys
from pathlib import Path


def problem() -> str:
    """One sentence that says why no window can be shown, or an empty string."""
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return ""
    wayland, x11 = os.environ.get("WAYLAND_DISPLAY"), os.environ.get("DISPLAY")
    if not wayland and not x11:
        return "There is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)."
    if wayland and _answers_unix(Path(os.environ.get("XDG_RUNTIME_DIR", "/")) / wayland):
        return ""
    if x11 and _x11_answers(x11):
        return ""
    return f"The display {wayland or x11} does not answer."


def _x11_answers(name: str) -> bool:
    match = re.fullmatch(r"(?:unix)?([^:]*):(\d+)(?:\.\d+)?", name)
    if not match:
        return True  # an unusual name: leave the verdict to Qt
    host, number = match[1], int(match[2])
    if not host:
        path = f"/tmp/.X11-unix/X{number}"
        return _answers_unix(Path(path)) or _answers_unix(Path(f"\0{path}"))
    try:
        socket.create_connection((host, 6000 + number), timeout=2).close()
    except OSError:
        return False
    return True


def _answers_unix(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(2)
        try:
            connection.connect(str(path))
        except (OSError, ValueError):
            return False
    return True
