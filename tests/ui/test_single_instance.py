"""One window for each user and data folder, seen with real processes."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop import instance, paths
from tests.ui.conftest import Fake

ROOT = Path(__file__).resolve().parents[2]

# A window on a server that is not there, that tells on standard output what becomes of it.
FIRST = """
import sys
from pathlib import Path
from desktop import instance
from tests.ui.fakes import ADDRESSES, FakeClient, FakeLease
place = instance.take([])
if isinstance(place, int):
    print(f"handed over to {place}", flush=True)
    sys.exit(0)
from desktop.ui.application import Application
app = Application(["tritalk"], acquire=FakeLease, client=lambda e: FakeClient(lambda t, h: [], 0.0))
app.settings.setValue("welcomed", 1)
app.listen(place)
app.open_file = lambda path: print(f"open {path}", flush=True)
window = app.window
window.show()
window.setVisible(len(sys.argv) < 2)
app._listener.asked.connect(lambda files, tokens: print(f"shown {window.isVisible()}", flush=True))
print("first", flush=True)
sys.exit(app.qt.exec() or app.close())
"""


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.fixture
def first(
    display: str, fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    started: list[subprocess.Popen[str]] = []

    def make(*arguments: str) -> subprocess.Popen[str]:
        started.append(start(FIRST, *arguments))
        assert line(started[-1]) == "first"
        return started[-1]

    yield make
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def second(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The program started as a person does, once more."""
    return subprocess.run(
        [sys.executable, "-m", "desktop", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_second_start_brings_the_first_up_and_hands_files_over(
    first: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    process = first("hidden")
    done = second()
    assert done.returncode == 0
    words = f"Tritalk is open already (process {process.pid}); its window was brought up.\n"
    assert done.stdout == words
    assert line(process) == "shown True"
    table = tmp_path / "地址.csv"
    table.write_text("地址\n鼓楼区湖南路18号\n", "utf-8")
    assert second("open", str(table)).returncode == 0
    assert line(process) == f"open {table}"
    assert line(process) == "shown True"
    wrong = second("open", str(tmp_path / "none.csv"))
    assert wrong.returncode == 2
    assert "there is no file" in wrong.stderr


def test_a_killed_first_one_leaves_the_place_free(
    first: Callable[..., subprocess.Popen[str]],
) -> None:
    process = first()
    process.kill()
    process.wait()
    assert list(paths.runtime_dir().glob("window-*[!k]"))  # its socket is still there
    again = first()
    assert str(again.pid) in second().stdout


def test_one_that_is_being_closed_is_waited_for(
    first: Callable[..., subprocess.Popen[str]],
) -> None:
    process = first()
    process.send_signal(signal.SIGSTOP)  # holds the place and answers nobody
    try:
        with pytest.raises(instance.LaunchError, match="does not answer"):
            instance.take([], wait=0.2)
        later = start(FIRST)
        time.sleep(0.5)
        assert later.poll() is None
    finally:
        process.kill()
    try:
        assert line(later) == "first"
    finally:
        later.kill()
        later.communicate()


def test_another_data_folder_has_a_window_of_its_own(
    first: Callable[..., subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first()
    monkeypatch.setenv("TRITALK_HOME", str(tmp_path / "other"))
    first()


def test_nonsense_on_the_socket_is_shrugged_off(
    first: Callable[..., subprocess.Popen[str]],
) -> None:
    process = first()
    # Other users' nonsense does not get this far.
    assert paths.runtime_dir().stat().st_mode & 0o077 == 0
    name = next(p for p in paths.runtime_dir().glob("window-*") if p.suffix != ".lock")
    for sent in (b"\xff\xfe\n", b"[]\n", b'{"open": 3}\n', b""):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(str(name))
            connection.sendall(sent)
            if sent:
                assert connection.recv(100) == b""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(str(name))
        message = json.dumps({"open": ["/a"], "tokens": {}}).encode() + b"\n"
        for part in (message[:5], message[5:]):
            connection.sendall(part)
        assert connection.recv(100) == b"%d\n" % process.pid
    assert line(process) == "open /a"


def test_files_go_to_the_page_that_reads_them(
    qtbot: QtBot, fake: Callable[..., Fake], tmp_path: Path
) -> None:
    one = fake()
    table = tmp_path / "t.csv"
    table.write_text("地址\n鼓楼区湖南路18号\n", "utf-8")
    one.app.open_file(table)
    assert one.window.pages.currentIndex() == 1
    bad = tmp_path / "c.json"
    bad.write_text("{", "utf-8")
    one.app.open_file(bad)
    assert one.window.pages.currentIndex() == 0
    qtbot.waitUntil(one.window.chat.store_notice.isVisible)
    assert one.window.chat.store_notice.words.text() == "The file is no JSON."
