"""A real X server without a screen, for tests and screenshots."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess

_PR_SET_PDEATHSIG = 1


def available() -> bool:
    return shutil.which("Xvfb") is not None


def start(size: str = "1280x800x24") -> str:
    """Start Xvfb on a display it picks itself; the display's name.

    It ends with this process, however that ends, and not before: Qt keeps its connection until the
    very last, and a server gone earlier would make it complain.
    """
    libc = ctypes.CDLL(None)
    read, write = os.pipe()
    subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", size, "-nolisten", "tcp"],
        pass_fds=[write],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM),  # noqa: PLW1509
    )
    os.close(write)
    with os.fdopen(read) as pipe:
        number = pipe.readline().strip()
    if not number:
        raise RuntimeError("Xvfb did not start")
    return f":{number}"
