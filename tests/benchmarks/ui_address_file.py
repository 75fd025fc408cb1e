"""A file of 100,000 addresses in the window: its memory, the stalls of its event loop, and how long
sorting, filtering and jumping through the list take.

``python -m tests.benchmarks.ui_address_file [--rows 100000]``. A faked client answers at once, so
that only the window and its files are measured. Memory is the resident set of this process: after
the window is open, and the peak after reading, running, sorting, scrolling and exporting.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from desktop.triton.types import Division, Entity, ParsedAddress, TritalkError
from tests.ui import xserver
from tests.ui.fakes import FakeClient, FakeLease


class InstantClient(FakeClient):
    """Answers every text alike, with five candidates."""

    def parse_each(self, texts: Iterable[str]) -> Iterator[ParsedAddress | TritalkError]:
        for number, text in enumerate(texts):
            confidence = (number * 37 % 100) / 100
            division = Division("浙江省", "杭州市", "余杭区", "五常街道", "330110005", confidence)
            entities = (
                Entity("city", "杭州市", 0, 3, 0.99),
                Entity("road", "五常大道", 3, 7, 0.97),
                Entity("roadno", f"{number}号", 7, len(text), 0.9),
            )
            yield ParsedAddress(text, entities, division, (division,) * 5)


def resident_mb() -> float:
    """Of this process, now."""
    with Path("/proc/self/statm").open() as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    os.environ |= {"DISPLAY": xserver.start(), "QT_QPA_PLATFORM": "xcb"}
    with tempfile.TemporaryDirectory() as home:
        os.environ["TRITALK_HOME"] = home
        run(options.rows, Path(home))
    return 0


def run(number: int, folder: Path) -> None:
    from PySide6.QtCore import Qt, QTimer
    from PySide6.QtTest import QTest

    from desktop.addresses.marks import Mark
    from desktop.ui.address_file_job import Stage
    from desktop.ui.application import Application

    source = folder / "addresses.csv"
    with source.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["编号", "姓名", "收货地址", "备注"])
        for i in range(number):
            writer.writerow([i, "张三", f"杭州市五常大道{i}号{i % 30 + 1}幢", "放前台" * (i % 3)])
    lease, client = FakeLease(), InstantClient(lambda text, history: [])
    app = Application(["benchmark"], acquire=lambda: lease, client=lambda endpoint: client)
    window = app.window
    window.show()
    app.session.start()
    window.show_page(1)
    QTest.qWait(500)
    page = window.address
    results = page.file.results
    before = resident_mb()
    print(f"window open: {before:.0f} MB")

    gaps: list[float] = []
    last = time.perf_counter()
    phase = 0

    def tick() -> None:
        nonlocal last
        now = time.perf_counter()
        gaps.append((now - last) * 1000 - 1)
        last = now

    timer = QTimer(interval=1)
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.timeout.connect(tick)
    timer.start()

    def until(true: Callable[[], bool], what: str) -> None:
        nonlocal phase
        began = time.perf_counter()
        while not true():
            QTest.qWait(5)
            assert time.perf_counter() - began < 900, what
        spent = time.perf_counter() - began
        worst = max(gaps[phase:], default=0.0)
        print(f"{what}: {spent:.2f} s, {resident_mb():.0f} MB, longest stall {worst:.0f} ms")
        phase = len(gaps)

    page.open_file(source)
    until(lambda: page.job.stage is Stage.CHOSEN, "opened and previewed")
    page.file.choice.start_button.click()
    until(lambda: page.job.stage is Stage.FINISHED, f"read and run, {number:,} rows")
    model = results.model
    until(lambda: model.rowCount() == number and not model._listing, "all listed")
    model.sort(4, Qt.SortOrder.AscendingOrder)
    until(lambda: not model._listing, "sorted by confidence")
    results.buttons[Mark.CHECK].click()
    until(lambda: not model._listing and model.rowCount() < number, "only those to check")
    results.buttons[None].click()
    until(lambda: not model._listing and model.rowCount() == number, "all again")
    bar = results.table.verticalScrollBar()
    for step in range(200):
        bar.setValue(bar.maximum() * step // 199)
        QTest.qWait(5)
    until(
        lambda: model.line(number - 1) is not None,
        "the last page, after 200 jumps through the list",
    )
    page.job.export(folder / "out.csv", "csv")
    until(lambda: not page.job.busy, "exported to CSV")
    timer.stop()
    gaps.sort()
    at = lambda share: gaps[int(share * (len(gaps) - 1))]  # noqa: E731
    print(
        f"stalls: 95 % under {at(0.95):.1f} ms, 99 % {at(0.99):.1f} ms, longest {gaps[-1]:.0f} ms"
    )
    print(f"peak: {peak_mb():.0f} MB, {peak_mb() - before:.0f} MB more than the open window")
    app.close()


if __name__ == "__main__":
    raise SystemExit(main())
