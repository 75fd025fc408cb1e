"""Load for a long time: ``python -m tests.faults.soak [--minutes 10]``, or ``make soak``.

64 chats at once, each beginning anew as soon as it ends, and 8 files of addresses, over and over,
against the embedded server. Any error but the documented queue limit is a failure; so is memory, of
the server or of this client, or shared memory, that grows after the first quarter. The figures are
printed and written into ``tests/artifacts/soak.json``.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from desktop.addresses.run import FileRun, Progress
from desktop.launchers import acquire, guardian
from desktop.launchers.stubs import find_stubs
from desktop.triton.client import TritonClient
from desktop.triton.types import Finished, Sampling, ServerUnavailable
from tests.support.processes import memory_of

CHATS, FILES, ROWS = 64, 8, 2000
#: What may be added between the first quarter and the end: allocators settle slowly.
GROWTH = 1.10
MESSAGES = ("你好", "今天好累啊", "给我讲个笑话吧", "最近总是睡不着，怎么办", "周末想出去玩")
STREETS = ("文三路", "中山北路", "建设大街", "人民路", "学院东路")
TOWNS = ("杭州市西湖区", "上海市静安区", "南京市鼓楼区", "苏州市吴中区", "福州市鼓楼区")


@dataclass
class Figures:
    """Counts over the whole run, and memory in MiB in the course of it."""

    minutes: float = 0.0
    replies: int = 0
    tokens: int = 0
    refused: int = 0
    addresses: int = 0
    files: int = 0
    errors: list[str] = field(default_factory=list)
    server_mib: list[float] = field(default_factory=list)
    client_mib: list[float] = field(default_factory=list)
    shared_mib: list[float] = field(default_factory=list)


class Soak:
    def __init__(self, client: TritonClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.figures = Figures()
        self.stop = threading.Event()
        self._lock = threading.Lock()

    def _count(self, **more: int) -> None:
        with self._lock:
            for name, n in more.items():
                setattr(self.figures, name, getattr(self.figures, name) + n)

    def _fail(self, error: Exception) -> None:
        with self._lock:
            self.figures.errors.append(f"{type(error).__name__}: {error}"[:300])

    def chat(self, seed: int) -> None:
        chance = random.Random(seed)
        while not self.stop.is_set():
            stream = self.client.chat(
                chance.choice(MESSAGES),
                sampling=Sampling(seed=chance.randrange(2**31), max_tokens=chance.randrange(8, 80)),
            )
            leave_at = chance.randrange(1, 40) if chance.random() < 0.1 else 0
            try:
                for number, event in enumerate(stream, 1):
                    if number == leave_at:
                        stream.cancel()
                    if isinstance(event, Finished):
                        self._count(replies=1, tokens=event.tokens)
            except ServerUnavailable as error:
                if "too many chats at once" not in str(error):
                    self._fail(error)
                    return
                self._count(refused=1)
                time.sleep(0.2)
            except Exception as error:
                self._fail(error)
                return

    def parse(self, number: int) -> None:
        source, output = (self.folder / f"{kind}{number}.csv" for kind in ("in", "out"))
        chance = random.Random(number)
        with source.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["编号", "地址"])
            for i in range(ROWS):
                street = (
                    f"{chance.choice(TOWNS)}{chance.choice(STREETS)}{chance.randrange(1, 999)}号"
                )
                writer.writerow(
                    [i, f"{street}{chance.randrange(1, 30)}幢{chance.randrange(101, 999)}室"]
                )
        while not self.stop.is_set():
            output.unlink(missing_ok=True)
            try:
                done = 0

                def report(progress: Progress) -> None:
                    nonlocal done
                    self._count(addresses=progress.done - done)
                    done = progress.done

                FileRun(source, output)(self.client, report, self.stop.is_set)
            except Exception as error:
                self._fail(error)
                return
            self._count(files=int(done == ROWS))


def shared(launch_id: str) -> float:
    """MiB of the shared memory of one launch that is in use."""
    regions = guardian.SHARED_MEMORY.glob(f"{guardian.shm_prefix(launch_id)}*")
    return sum(path.stat().st_blocks for path in regions) * 512 / 2**20


def growth(series: list[float]) -> float:
    """The last eighth beside the second quarter, as a ratio of means."""
    n = len(series)
    early, late = series[n // 4 : n // 2] or series[:1], series[-max(1, n // 8) :]
    return (sum(late) / len(late)) / max(1.0, sum(early) / len(early))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    minutes = parser.parse_args().minutes
    lease = acquire("embedded")
    with tempfile.TemporaryDirectory() as scratch:
        endpoint = lease.wait_ready(300).endpoint
        launch_id = Path(endpoint.metrics.removeprefix("unix:")).parent.name
        with TritonClient(endpoint, recover=lambda: lease.wait_ready(60).endpoint) as client:
            soak = Soak(client, Path(scratch))
            threads = [
                *(threading.Thread(target=soak.chat, args=(i,), daemon=True) for i in range(CHATS)),
                *(
                    threading.Thread(target=soak.parse, args=(i,), daemon=True)
                    for i in range(FILES)
                ),
            ]
            started = time.monotonic()
            pid = lease.status().pid
            for thread in threads:
                thread.start()
            figures = soak.figures
            while time.monotonic() < started + minutes * 60 and not figures.errors:
                time.sleep(5)
                pids = [pid, *find_stubs(pid)]
                figures.server_mib.append(round(sum(map(memory_of, pids)), 1))
                figures.client_mib.append(round(memory_of(os.getpid()), 1))
                figures.shared_mib.append(round(shared(launch_id), 1))
                print(
                    f"{(time.monotonic() - started) / 60:5.1f} min  {figures.replies} replies, "
                    f"{figures.tokens} tokens, {figures.refused} refused, {figures.addresses} "
                    f"addresses; server {figures.server_mib[-1]:.0f}, client "
                    f"{figures.client_mib[-1]:.0f}, shared {figures.shared_mib[-1]:.1f} MiB",
                    flush=True,
                )
            figures.minutes = round((time.monotonic() - started) / 60, 2)
            soak.stop.set()
            for thread in threads:
                thread.join(timeout=60)
            if lease.status().pid != pid:
                figures.errors.append("the server went down and was started again")
            if alive := sum(thread.is_alive() for thread in threads):
                figures.errors.append(f"{alive} of the clients' threads hang")
    lease.close()
    ratios = {
        name: round(growth(getattr(figures, name)), 3)
        for name in ("server_mib", "client_mib", "shared_mib")
    }
    output = Path(__file__).resolve().parents[1] / "artifacts" / "soak.json"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({**asdict(figures), "growth": ratios}, indent=1) + "\n")
    print(f"growth {ratios}; errors: {dict(Counter(figures.errors)) or 'none'}")
    grown = [name for name, ratio in ratios.items() if ratio > GROWTH]
    if grown:
        print(f"grew: {', '.join(grown)}", file=sys.stderr)
    return 1 if figures.errors or grown else 0


if __name__ == "__main__":
    sys.exit(main())
