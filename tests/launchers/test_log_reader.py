"""Following the server's log: every line once, over rotations, with its level."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.launchers import capture
from desktop.launchers.capture import BoundedLog
from desktop.launchers.log_reader import Level, LogReader, level_of

INFO, WARNING, ERROR = Level.INFO, Level.WARNING, Level.ERROR


@pytest.mark.parametrize(
    ("text", "before", "level"),
    [
        ('2026-11-29T22:22:55Z I 1493 server.cc:604] "x"', ERROR, INFO),
        ('2026-11-29T22:22:55Z W 1493 pinned.cc:273] "x"', INFO, WARNING),
        ('2026-11-29T22:22:55Z E 1493 server.cc:241] "x"', INFO, ERROR),
        ("E1129 22:22:55.123456 1493 server.cc:241] x", INFO, ERROR),
        ("W1129 22:22:55.123456 1493 server.cc:241] x", INFO, WARNING),
        ("[WARN]  evhtp.c:4050     NODELAY NOT SUPPORTED", INFO, WARNING),
        ("/a/b.py:3: UserWarning: old", INFO, WARNING),
        ("Traceback (most recent call last):", INFO, ERROR),
        ("RuntimeError: worn out", INFO, ERROR),
        ("tritalk: restarting", ERROR, INFO),
        ('  File "model.py", line 3, in execute', ERROR, ERROR),
        ("| Model | Version | Status |", INFO, INFO),
    ],
)
def test_levels(text: str, before: Level, level: Level) -> None:
    assert level_of(text, before) is level


def test_each_line_comes_once(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    reader = LogReader(path, 100)
    assert reader.read() == []
    log = BoundedLog(path)
    log.feed("一\n二\n三".encode())
    assert [line.text for line in reader.read()] == ["一", "二"]
    assert reader.read() == []
    log.feed(b" und\nE1129 22:22:55.1 1 x] broken\n  inside\n")
    lines = reader.read()
    assert [line.text for line in lines] == ["三 und", "E1129 22:22:55.1 1 x] broken", "  inside"]
    assert [line.level for line in lines] == [INFO, ERROR, ERROR]
    log.close()
    reader.close()


def test_a_rotation_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "MAX_FILE_BYTES", 400)
    log = BoundedLog(tmp_path / "server.log")
    reader = LogReader(tmp_path / "server.log", 1000)
    seen: list[str] = []
    for number in range(200):
        log.add(f"line {number}")
        if number % 7 == 0:  # looked at less often than written, but before a second rotation
            seen += [line.text for line in reader.read()]
    seen += [line.text for line in reader.read()]
    assert (tmp_path / "server.log.1").exists()
    assert seen == [f"line {number}" for number in range(200)]
    log.close()
    reader.close()


def test_the_beginning_is_bounded_and_takes_the_older_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture, "MAX_FILE_BYTES", 400)
    log = BoundedLog(tmp_path / "server.log")
    for number in range(60):
        log.add(f"line {number}")
    reader = LogReader(tmp_path / "server.log", 40)
    assert [line.text for line in reader.read()] == [f"line {number}" for number in range(20, 60)]
    log.close()
    reader.close()
