"""A program killed in the middle of a reply loses at most its last second."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from desktop.store.database import Database
from desktop.store.records import Stage
from desktop.store.worker import StoreWorker

ROOT = Path(__file__).resolve().parents[2]

WRITER = """
import itertools, json, sys, time
from pathlib import Path
from desktop.store.database import Database
from desktop.store.records import ConversationInfo, Message, Role, Stage, new_id
from desktop.store.worker import StoreWorker
from tests.store.conftest import token

worker = StoreWorker(Path(sys.argv[1]), lambda notice: sys.exit(notice))
info = ConversationInfo(new_id(), "title")
user = Message(Role.USER, "问")
reply = Message(Role.REPLY, parent=user.id, stage=Stage.WAITING)
worker.submit(lambda d: d.create(info))
worker.submit(lambda d: d.add_message(info.id, user))
worker.submit(lambda d: d.add_message(info.id, reply))
print(json.dumps([info.id, reply.id]), flush=True)
for number in itertools.count():
    worker.append_tokens(reply.id, number, [token(chr(0x4e00 + number % 5000))])
    print(json.dumps([number + 1, time.time()]), flush=True)
    time.sleep(0.004)
"""


def test_kill_9_costs_at_most_the_last_second(path: Path) -> None:
    for seconds in (0.4, 1.7, 2.2):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert child.stdout is not None
        conversation, reply = json.loads(child.stdout.readline())
        first = json.loads(child.stdout.readline())
        time.sleep(seconds)
        child.send_signal(signal.SIGKILL)
        killed = time.time()
        lines = [first, *(json.loads(line) for line in child.stdout if line.endswith("\n"))]
        child.wait()
        old_enough = max((n for n, when in lines if when < killed - 1.0), default=0)
        assert seconds < 1 or old_enough > 20

        notices: list[object] = []
        worker = StoreWorker(path, notices.append)
        stored = worker.submit(lambda d, c=conversation: d.load(c)).result(20)  # type: ignore[misc]
        tokens = worker.submit(lambda d, r=reply: d.tokens(r)).result(20)  # type: ignore[misc]
        worker.close()
        assert notices == []
        assert old_enough <= len(tokens) <= lines[-1][0] + 1
        message = stored.messages[-1]
        assert message.stage is Stage.INTERRUPTED
        assert message.text == "".join(t.text for t in tokens)
        assert message.text == "".join(chr(0x4E00 + n % 5000) for n in range(len(tokens)))


def test_closing_writes_what_waits(path: Path) -> None:
    from desktop.store.records import Message, Role
    from tests.store.conftest import start, token

    worker = StoreWorker(path, lambda notice: None)
    conversation = worker.submit(start).result(20)
    reply = Message(Role.REPLY, stage=Stage.STREAMING)
    worker.submit(lambda d: d.add_message(conversation, reply))
    worker.append_tokens(reply.id, 0, [token("好")])
    worker.close()
    worker = StoreWorker(path, lambda notice: None)
    assert [t.text for t in worker.submit(lambda d: d.tokens(reply.id)).result(20)] == ["好"]
    worker.close()


def test_an_operation_that_fails_tells_its_caller_and_nobody_else(path: Path) -> None:
    notices: list[object] = []
    worker = StoreWorker(path, notices.append)

    def fail(database: Database) -> None:
        with database.transaction():
            database.save_setting("half", 1)
            raise KeyError("done")

    assert isinstance(worker.submit(fail).exception(20), KeyError)
    assert worker.submit(lambda d: d.setting("half")).result(20) is None
    worker.close()
    assert notices == []
