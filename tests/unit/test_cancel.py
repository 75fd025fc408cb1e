"""Cancel flags: set, read from another process's side, reused late, and dead with their owner."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from server_bundle.chitchat.cancel import CancelFlags, CancelReader, InvalidCancelKey


def test_a_flag_is_seen_by_the_reader(tmp_path: Path) -> None:
    flags, reader = CancelFlags(tmp_path), CancelReader(tmp_path)
    (first, first_key), (_, second_key) = flags.take(), flags.take()
    reader.check(first_key)
    assert not reader.is_cancelled(first_key)
    flags.cancel(first)
    assert reader.is_cancelled(first_key)
    assert not reader.is_cancelled(second_key)
    reader.close()
    flags.close()


def test_a_flag_comes_back_clear_and_only_after_all_others(tmp_path: Path) -> None:
    flags, reader = CancelFlags(tmp_path), CancelReader(tmp_path)
    index, _ = flags.take()
    flags.cancel(index)
    flags.give_back(index)
    taken = [flags.take() for _ in range(4096)]
    assert taken[-1][0] == index
    assert not any(reader.is_cancelled(key) for _, key in taken)
    with pytest.raises(RuntimeError):
        flags.take()
    reader.close()
    flags.close()


@pytest.mark.parametrize(
    "key",
    [
        "",
        "x",
        "../../etc/passwd:0",
        "cancel-0123456789abcdef",
        "cancel-0123456789abcdef:4096",
        "cancel-0123456789abcdef:-1",
        "cancel-0123456789abcdef:1",
        "cancel-0123456789ABCDEF:1",
    ],
)
def test_keys_that_are_none(tmp_path: Path, key: str) -> None:
    with pytest.raises(InvalidCancelKey):
        CancelReader(tmp_path).check(key)


def test_a_file_that_is_gone_counts_as_cancelled(tmp_path: Path) -> None:
    flags, reader = CancelFlags(tmp_path), CancelReader(tmp_path)
    _, key = flags.take()
    flags.close()
    assert reader.is_cancelled(key)


def test_what_a_killed_owner_asked_for_is_cancelled(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from server_bundle.chitchat.cancel import CancelFlags\n"
        "flags = CancelFlags(pathlib.Path(sys.argv[1]))\n"
        "print(flags.take()[1], flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        key = owner.stdout.readline().strip()
        reader = CancelReader(tmp_path)
        reader.check(key)
        time.sleep(0.15)  # longer than the reader waits between two looks at the owner
        assert not reader.is_cancelled(key)
        owner.kill()
    end = time.monotonic() + 5
    while not reader.is_cancelled(key):
        assert time.monotonic() < end
        time.sleep(0.02)
    assert list(tmp_path.iterdir()) == []
