"""A real X server without a screen, for tests and screenshots."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator

_PR_SET_PDEATHSIG = 1


_libc = ctypes.CDLL(None)


def _die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def available() -> bool:
    return shutil.which("Xvfb") is not None


@contextlib.contextmanager
def tray_host(display: str, height: int = 24) -> Iterator[subprocess.Popen[bytes]]:
    """A system tray on a panel at the top left of the display, ``height`` pixels high."""
    options = f"--edge top --align left --widthtype request --height {height}"
    process = subprocess.Popen(
        ["trayer", *options.split()],
        env=os.environ | {"DISPLAY": display},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=_die_with_parent,  # noqa: PLW1509
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def start(size: str = "1280x800x24") -> str:
    """Start Xvfb on a display it picks itself; the display's name.

    It ends with this process, however that ends, and not before: Qt keeps its connection until the
    very last, and a server gone earlier would make it complain.
    """
    read, write = os.pipe()
    subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", size, "-nolisten", "tcp"],
        pass_fds=[write],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=_die_with_parent,  # noqa: PLW1509
    )
    os.close(write)
    with os.fdopen(read) as pipe:
        number = pipe.readline().strip()
    if not number:
        raise RuntimeError("Xvfb did not start")
    return f":{number}"
