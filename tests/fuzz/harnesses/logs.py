"""The server's output as it comes: bounded, without colours, and without the key."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

from desktop.launchers.capture import MAX_LINE_CHARACTERS, BoundedLog, tail
from desktop.launchers.log_reader import LogReader
from tests.fuzz.harness import folder

KEY = "5f2c9a7e41d8b603"
MAX_LEN = 16_384


def seeds() -> Iterable[bytes]:
    key = KEY.encode()
    yield b"I1129 22:22:55.123 1 s.cc:1] started\n\x1b[31mE1129 x\x1b[0m\nerror while loading\n"
    yield b"--key=" + key + b"\n" + "地址\r\n".encode() + key[:7] + b"\xff" + key[7:] + b"\n"
    yield b"x" * (MAX_LINE_CHARACTERS - 5) + key + b"y" * 3000 + b"\xff" + key + b"\n"
    yield key[:5] + b"\x1b[1m" + key[5:] + b"\x1b[\x1b[0m0m\n\xff\xff\n"


def mutate(data: bytes, chance: random.Random) -> bytes:
    """The key, a colour or the end of a chunk put in anywhere, or a stretch repeated."""
    at = chance.randrange(len(data) + 1)
    put = (KEY.encode(), b"\x1b[0m", b"\xff", b"\n", b"x" * 1999, "界".encode(), KEY.encode()[:9])
    return data[:at] + chance.choice(put) + data[at:]


def one(data: bytes) -> None:
    """A byte 255 ends a chunk."""
    path = folder() / "server.log"
    for old in (path, path.with_name("server.log.1")):
        old.unlink(missing_ok=True)
    log = BoundedLog(path)
    log.secrets.append(KEY)
    reader = LogReader(path, 100_000)
    read = []
    for chunk in data.split(b"\xff"):
        log.feed(chunk)
        read += reader.read()
    log.close()
    read += reader.read()
    reader.close()
    kept = path.read_bytes()
    assert KEY.encode() not in kept, "the key is in the log"
    # Cut in two it must not stay either: three quarters of it would be known.
    plain = re.sub(rb"\x1b\[[0-9;]*[A-Za-z]", b"", data.replace(b"\xff", b""))
    if KEY.encode()[:12] not in plain.replace(KEY.encode(), b""):
        assert KEY.encode()[:12] not in kept, "most of the key is in the log"
    assert all(len(line) <= MAX_LINE_CHARACTERS + 2 for line in log.lines)
    assert [line.text for line in read] == [line for line in log.lines if line]
    assert all("\n" not in line and line.strip() for line in log.lines)
    assert len(tail(path, 5)) <= 5
    assert isinstance(log.last_error(), str)
