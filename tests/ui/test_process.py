"""The window as a process of its own: how it begins without a display, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.launchers import current, guardian

ROOT = Path(__file__).resolve().parents[2]
RUN = "import sys; from desktop.app import run_window; sys.exit(run_window(['tritalk']))"


def test_without_a_display_it_says_so_in_one_line(fresh_home: Path) -> None:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout + done.stderr == "There is no display to open a window on.\n"


@pytest.fixture
def window(display: str, fresh_home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A window in a process of its own, with a server of its own that has begun to load."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUN],
        cwd=ROOT,
        env=os.environ | {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"},
    )
    end = time.monotonic() + 90
    while ((status := current()) is None or not status.pid) and time.monotonic() < end:
        assert process.poll() is None
        time.sleep(0.1)
    yield process
    process.kill()
    process.wait()


def launches(home: Path) -> list[str]:
    return [path.name for path in (home / "run").glob("*") if path.is_dir()]


def leftovers(home: Path, launch: str) -> list[str]:
    prefix = guardian.shm_prefix(launch)
    found = [f"process {pid}" for pid in guardian.processes_of(launch)]
    found += [str(p) for p in guardian.SHARED_MEMORY.iterdir() if p.name.startswith(prefix)]
    return found + launches(home)


@pytest.mark.triton
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_the_window(
    window: subprocess.Popen[bytes], fresh_home: Path, number: signal.Signals
) -> None:
    (launch,) = launches(fresh_home)
    assert guardian.processes_of(launch)
    window.send_signal(number)
    status = window.wait(15)
    assert status == (-signal.SIGKILL if number == signal.SIGKILL else 0)
    end = time.monotonic() + 15
    while leftovers(fresh_home, launch) and time.monotonic() < end:
        time.sleep(0.05)
    assert leftovers(fresh_home, launch) == []


@pytest.mark.slow
@pytest.mark.timeout(1300)
def test_one_command_renders_every_page(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "tests/ui/screenshots.py", "--few", str(tmp_path)],
        cwd=ROOT,
        check=True,
        timeout=1200,
    )
    pages = {path.name.rsplit("_", 2)[0] for path in tmp_path.glob("*.png")}
    assert {"chat", "chat_token", "chat_error", "address", "server"} <= pages
    assert len(list(tmp_path.glob("*.png"))) == 2 * len(pages)
