"""Storage that fails: a full disk, a folder one may not write, a kill at any moment of a write."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from desktop.store.database import Database
from desktop.store.records import ConversationInfo, Message, Role, new_id
from desktop.store.schema import Notice, NoticeKind, open_file
from desktop.store.worker import StoreWorker

ROOT = Path(__file__).resolve().parents[2]
KILLS = 200

# Forks writers that are killed: importing everything anew for each would take minutes.
_FORKER = """
import json, os, sys
from pathlib import Path
from desktop.store.database import Database
from desktop.store.records import ConversationInfo, Message, Role, new_id
from desktop.store.schema import open_file
from tests.store.conftest import token

def write(path, report):
    connection, notices = open_file(Path(path))
    if notices:
        os.write(report, (json.dumps({"notices": [str(n) for n in notices]}) + "\\n").encode())
    database = Database(connection)
    database.recover()
    while True:
        info = ConversationInfo(new_id(), "title")
        database.create(info)
        user = Message(Role.USER, "asked " + str(info.id))
        database.add_message(info.id, user)
        reply = Message(Role.REPLY, parent=user.id)
        database.add_message(info.id, reply)
        database.append_tokens(reply.id, 0, [token(c) for c in "said"])
        database.rename(info.id, "named " + str(info.id))
        # Only what is committed is reported.
        line = json.dumps({"conversation": info.id, "reply": reply.id}) + "\\n"
        os.write(report, line.encode())

for path in sys.stdin:
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        write(path.strip(), 1)
    os.close(reading), os.close(writing)
    print(json.dumps({"pid": pid}), flush=True)
    os.waitpid(pid, 0)
    print(json.dumps({"dead": pid}), flush=True)
"""


def test_no_committed_message_is_lost_at_200_random_kill_points(tmp_path: Path) -> None:
    path = tmp_path / "conversations.db"
    chance = random.Random(1)
    committed: list[dict[str, int]] = []
    forker = subprocess.Popen(
        [sys.executable, "-c", _FORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert forker.stdin is not None
    assert forker.stdout is not None
    for _ in range(KILLS):
        print(path, file=forker.stdin, flush=True)
        # Killed some commits later, at a moment that knows nothing of what is being written.
        wait, pid = chance.randrange(4), 0
        while True:
            event = json.loads(forker.stdout.readline())
            if "dead" in event:
                break
            assert "notices" not in event, "a killed writer left a damaged file"
            if "pid" in event:
                pid = event["pid"]
            else:
                committed.append(event)
            if pid and not wait:
                time.sleep(chance.uniform(0, 0.008))
                os.kill(pid, signal.SIGKILL)
            wait -= 1
    forker.stdin.close()
    forker.wait()
    assert len(committed) > KILLS / 2  # it did write between the kills

    connection, notices = open_file(path)
    assert notices == []
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    database = Database(connection)
    for one in committed:
        stored = database.load(one["conversation"])
        assert stored is not None
        assert stored.info.title == f"named {one['conversation']}"
        assert [m.role for m in stored.messages] == [Role.USER, Role.REPLY]
        assert "".join(t.text for t in database.tokens(one["reply"])) == "said"
    connection.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("mounting needs root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_loses_nothing_and_goes_on_when_there_is_room(small_disk: Path) -> None:
    notices: list[Notice] = []
    worker = StoreWorker(small_disk / "conversations.db", notices.append)
    info = ConversationInfo(new_id(), "title")
    worker.submit(lambda d: d.create(info)).result(20)
    stuffing = small_disk / "stuffing"
    with stuffing.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 512)
    texts = [f"{i} " + "长" * 3000 for i in range(40)]
    waiting = [
        worker.submit(partial(Database.add_message, conversation=info.id, message=message))
        for message in [Message(Role.USER, text) for text in texts]
    ]
    end = time.monotonic() + 20
    while not notices and time.monotonic() < end:
        time.sleep(0.05)
    assert notices[0].kind is NoticeKind.UNWRITTEN
    stuffing.unlink()
    for each in waiting:
        each.result(30)
    worker.close()
    connection, notices = open_file(small_disk / "conversations.db")
    assert notices == []
    found = [row[0] for row in connection.execute("SELECT text FROM message ORDER BY rowid")]
    assert found == texts
    connection.close()


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9])
def test_a_truncated_file_is_set_aside_whatever_is_left(tmp_path: Path, keep: float) -> None:
    path = tmp_path / "conversations.db"
    connection, _ = open_file(path)
    database = Database(connection)
    for i in range(200):
        info = ConversationInfo(new_id(), f"title {i}" + "长" * 200)
        database.create(info)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with path.open("r+b") as file:
        file.truncate(int(path.stat().st_size * keep))
    for start in range(2):  # and the start after that has nothing to complain about
        connection, notices = open_file(path)
        Database(connection).create(ConversationInfo(new_id(), "new"))
        connection.close()
        if keep == 0.0 or start:
            assert notices == []
        else:
            assert [n.kind for n in notices] == [NoticeKind.DAMAGED]
            assert len(list(tmp_path.glob("conversations*damaged*"))) >= 1


def test_a_read_only_folder_is_told_and_work_goes_on(tmp_path: Path) -> None:
    """As somebody else than root, whom permissions do not stop."""
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o555)
    script = """
import sys
from pathlib import Path
from desktop.store.worker import StoreWorker
from desktop.store.records import ConversationInfo, new_id
notices = []
worker = StoreWorker(Path(sys.argv[1]), notices.append)
info = ConversationInfo(new_id(), "title")
worker.submit(lambda d: d.create(info)).result(20)
print(worker.submit(lambda d: d.info(info.id)).result(20).title, [n.kind.name for n in notices])
worker.close()
"""
    for parent in tmp_path.parents:
        if parent.stat().st_uid == os.getuid() and str(parent).startswith("/tmp/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    tmp_path.chmod(0o755)
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    command = [sys.executable, "-c", script, str(folder / "conversations.db")]
    done = subprocess.run(
        (drop if os.getuid() == 0 else []) + command,
        capture_output=True,
        check=False,
        text=True,
        cwd="/",
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
    )
    if "ModuleNotFoundError" in done.stderr or "Permission denied" in done.stderr[:200]:
        pytest.skip("nobody may not read this checkout")
    assert done.stdout.startswith("title ['"), done.stderr
    assert sqlite3.sqlite_version  # the module itself is fine; the folder was the trouble
