"""How long the window's event loop stalls while a reply streams.

A conversation of 2,000 messages is opened and replies stream in at a chosen rate, from a faked
client, so that only the window is measured. A timer of 1 ms notes the gaps between its calls; a gap
beyond that millisecond is time in which the window could not have answered.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.ui import xserver
from tests.ui.fakes import FakeClient, FakeLease, token


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--tokens", type=int, default=480)
    parser.add_argument("--rate", type=float, default=300.0, help="tokens per second")
    parser.add_argument("--replies", type=int, default=4)
    options = parser.parse_args()
    os.environ |= {"DISPLAY": xserver.start(), "QT_QPA_PLATFORM": "xcb"}

    with tempfile.TemporaryDirectory() as home:
        os.environ["TRITALK_HOME"] = home
        run(options)
    return 0


def run(options: argparse.Namespace) -> None:
    from PySide6.QtCore import Qt, QTimer
    from PySide6.QtTest import QTest

    from desktop.store.records import DEFAULT_SETTINGS, ConversationInfo, Message, Role, new_id
    from desktop.triton.types import Finished
    from desktop.ui.application import Application

    rng = random.Random(1)

    def script(text: str, history: Sequence[str]) -> list[object]:
        return [
            token(rng.choice("今天我想去公园走你好吗的了是"), rng.random())
            for _ in range(options.tokens)
        ]

    client = FakeClient(script, gap=1 / options.rate)  # type: ignore[arg-type]
    lease = FakeLease()
    app = Application(["bench"], acquire=lambda: lease, client=lambda endpoint: client)
    app.window.show()
    app.session.start()
    QTest.qWait(200)
    chat = app.window.chat

    info = ConversationInfo(new_id(), "bench")
    messages: list[Message] = []
    for number in range(options.messages // 2):
        asked = Message(Role.USER, f"第{number}句话，随便说点什么")
        asked.parent = messages[-1].id if messages else None
        reply = Message(Role.REPLY, parent=asked.id)
        reply.tokens = [token(rng.choice("今天我想去公园"), rng.random()) for _ in range(40)]
        reply.text = "".join(t.text for t in reply.tokens)
        reply.finished = Finished("stop", reply.text, 40, 20, 0.05, 200.0)
        messages += [asked, reply]
    kept = threading.Event()
    app.archive.ask(lambda database: database.adopt(info, DEFAULT_SETTINGS, messages, messages))
    app.archive.ask(lambda database: kept.set())
    kept.wait(60)
    messages.clear()
    began = time.perf_counter()
    chat.conversation.open(info.id)
    while chat.conversation.transcript.rowCount() < options.messages:
        app.qt.processEvents()
    chat.view.viewport().repaint()
    opened = time.perf_counter()
    while not chat.conversation.transcript.message(options.messages - 1).tokens:
        app.qt.processEvents()
    coloured = time.perf_counter()
    print(
        f"open {options.messages} messages from the file: {(opened - began) * 1000:.0f} ms, "
        f"with colours {(coloured - began) * 1000:.0f} ms"
    )

    # A person reads before typing; what opening leaves to be done later is done meanwhile.
    QTest.qWait(1500)
    gaps: list[float] = []
    last = time.perf_counter()

    def tick() -> None:
        nonlocal last
        now = time.perf_counter()
        gaps.append((now - last) * 1000)
        last = now

    timer = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=1)
    timer.timeout.connect(tick)
    last = time.perf_counter()
    timer.start()
    for _ in range(options.replies):
        chat.conversation.send("说说看")
        while chat.conversation.busy:
            QTest.qWait(5)
    timer.stop()
    app.close()

    stalls = sorted(max(0.0, gap - 1.0) for gap in gaps)

    def at(share: float) -> float:
        return stalls[min(len(stalls) - 1, int(share * len(stalls)))]

    print(
        f"{options.replies} replies of {options.tokens} tokens at {options.rate:.0f}/s: "
        f"stall p95 {at(0.95):.1f} ms, p99 {at(0.99):.1f} ms, max {stalls[-1]:.1f} ms "
        f"({len(stalls)} ticks)"
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MiB")


if __name__ == "__main__":
    raise SystemExit(main())
