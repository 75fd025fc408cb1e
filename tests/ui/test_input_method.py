"""Qt of this installation and a real fcitx5: the program is among those it serves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Run in a session bus of its own. fcitx5-remote prints 0 while no window is served, else 1 or 2.
SESSION = """
import os, subprocess, sys, time
fcitx = subprocess.Popen(["fcitx5", "--disable=wayland,waylandim,kimpanel,notificationitem"])
def served():
    done = subprocess.run(["fcitx5-remote"], capture_output=True, text=True)
    return done.stdout.strip()
end = time.monotonic() + 60
while served() != "0" and time.monotonic() < end:
    time.sleep(0.1)
if sys.argv[1] == "prepared":
    from desktop import input_method
    found = input_method.prepare(os.environ)
    assert found.ok, found
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
app = QApplication(["window"])
field = QLineEdit()
field.show()
field.activateWindow()
field.setFocus()
end = time.monotonic() + (60 if sys.argv[1] == "prepared" else 3)
while served() == "0" and time.monotonic() < end:
    QTest.qWait(100)
print("served", served(), flush=True)
fcitx.terminate()
fcitx.wait()
"""


@pytest.mark.skipif(
    not (shutil.which("fcitx5") and shutil.which("dbus-run-session")),
    reason="fcitx5 or dbus-run-session is not installed",
)
@pytest.mark.parametrize(("how", "served"), [("prepared", "1"), ("as it was", "0")])
def test_a_session_that_asks_for_fcitx_is_served(
    display: str, tmp_path: Path, how: str, served: str
) -> None:
    environment = os.environ | {
        "DISPLAY": display,
        "QT_QPA_PLATFORM": "xcb",
        "QT_IM_MODULE": "fcitx",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "LANG": "C.UTF-8",
    }
    done = subprocess.run(
        ["dbus-run-session", "--", sys.executable, "-c", SESSION, how],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert f"served {served}" in done.stdout, done.stderr[-2000:]
