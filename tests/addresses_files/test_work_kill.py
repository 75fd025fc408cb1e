"""A run killed in the middle: what was kept stays whole, and only the rest is asked for."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from desktop.addresses.marks import Mark
from desktop.addresses.workfile import WorkFile
from tests.addresses_files.test_workfile import SURE, Client, finish, make

_NUMBER = 4000
_RUN = """
import sys, time
from pathlib import Path
from desktop.addresses import work_run
from desktop.addresses.workfile import WorkFile
from tests.addresses_files.test_workfile import Client

class Slow(Client):
    def parse_each(self, texts):
        for answer in super().parse_each(texts):
            time.sleep(0.0005)
            yield answer

work = WorkFile.open(Path(sys.argv[1]))
work_run.run(work, lambda error, pause: Slow())
"""


def test_a_killed_run_goes_on(fresh_home: Path, tmp_path: Path) -> None:
    work = make(tmp_path / "a.csv", [[str(i), f"{SURE}{i}"] for i in range(_NUMBER)])
    with subprocess.Popen([sys.executable, "-c", _RUN, str(work.path)]) as process:
        end = time.monotonic() + 60
        while work.counts().answered < 300 and time.monotonic() < end:
            assert process.poll() is None
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    before = work.counts().answered
    assert 300 <= before < _NUMBER
    (again,) = WorkFile.all()
    client = finish(again, Client())
    # In order, from the first row that was not kept.
    assert client.asked == [f"{SURE}{i}" for i in range(before, _NUMBER)]
    assert len(again.order(Mark.SURE)) == _NUMBER
    assert again.export(tmp_path / "b.csv")
    with (tmp_path / "b.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["地址"] for row in rows] == [f"{SURE}{i}" for i in range(_NUMBER)]
    assert {row["code"] for row in rows} == {"310118"}
