"""The bounded log: nothing is lost that should be kept, and nothing grows without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.launchers import capture
from desktop.launchers.capture import BoundedLog


@pytest.fixture
def log(tmp_path: Path) -> BoundedLog:
    return BoundedLog(tmp_path / "logs" / "server.log")


def test_lines_come_out_as_they_went_in_however_they_were_cut(log: BoundedLog) -> None:
    text = "first 你好\nsecond\nthird\n".encode()
    for i in range(0, len(text), 5):
        log.feed(text[i : i + 5])
    assert list(log.lines) == ["first 你好", "second", "third"]
    assert capture.tail(log.path, 2) == ["second", "third"]


def test_an_unfinished_line_is_kept_at_the_end(log: BoundedLog) -> None:
    log.feed(b"no end of line")
    log.close()
    assert capture.tail(log.path, 5) == ["no end of line"]


def test_colours_blank_lines_and_the_key_are_left_out(log: BoundedLog) -> None:
    log.secrets = ["s3cret"]
    log.feed(b"\x1b[1;33mWARN\x1b[0;39m\n\n   \n--key=s3cret\n")
    assert list(log.lines) == ["WARN", "--key=<key>"]
    assert "s3cret" not in log.path.read_text()


def test_size_is_bounded_in_memory_and_on_disk(log: BoundedLog) -> None:
    log.feed(b"x" * 100_000 + b"\n")
    assert len(log.lines[-1]) < 2 * capture.MAX_LINE_CHARACTERS
    for number in range(40_000):
        log.add(f"{number} " + "y" * 80)
    assert len(log.lines) == capture.MAX_LINES
    files = sorted(log.path.parent.iterdir())
    assert [file.name for file in files] == ["server.log", "server.log.1"]
    total = sum(file.stat().st_size for file in files)
    assert total <= 2 * (capture.MAX_FILE_BYTES + capture.MAX_LINE_CHARACTERS)
    numbers = [int(line.split()[0]) for line in capture.tail(log.path, 5000)]
    assert numbers == list(range(35_000, 40_000))


def test_a_line_without_end_does_not_grow(log: BoundedLog) -> None:
    for _ in range(100):
        log.feed(b"z" * 65536)
    assert len(log._rest) <= 65536 + 2 * capture.MAX_LINE_CHARACTERS


def test_only_the_owner_reads_the_file(log: BoundedLog) -> None:
    assert log.path.stat().st_mode & 0o077 == 0


def test_the_last_error_is_found_among_later_lines(log: BoundedLog) -> None:
    log.add('2026-11-29T19:25:00Z E 7794 model.cc:1] "it broke"')
    log.add('2026-11-29T19:25:01Z I 7794 server.cc:345] "goodbye"')
    assert "it broke" in log.last_error()
