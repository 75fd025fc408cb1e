"""``tritalk parse FILE --output OUT``: real files, the real server, and sudden ends."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.cli.test_commands import TRITALK, tritalk

pytestmark = pytest.mark.triton

HEADER = ["单号", "收货地址", "备注"]
GOOD = "浙江省杭州市余杭区五常街道文一西路969号3幢"


def rows(number: int) -> list[list[str]]:
    return [
        [f"A{i:05}", f"浙江省宁波市海曙区高桥镇藕缘佳苑{i + 1}幢{i % 30 + 1}单元302", f"备注{i}"]
        for i in range(number)
    ]


def write_csv(path: Path, body: list[list[str]], encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as stream:
        csv.writer(stream).writerows([HEADER, *body])
    return path


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def beside(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_gbk_table_with_bad_rows(server: Any, tmp_path: Path) -> None:
    body = [
        ["1", GOOD, "=HYPERLINK(1)"],
        ["2", "", "没有地址"],
        ["3", "路" * 2001, "太长"],
        ["4", "上海市徐汇区陕西南路666弄12号501室", "ok"],
    ]
    source = write_csv(tmp_path / "in.csv", body, "gbk")
    done = tritalk("parse", str(source), "--output", str(tmp_path / "out.csv"))
    assert done.returncode == 1, done.stderr
    assert done.stdout == b""
    notes = done.stderr.decode()
    assert "4 rows, addresses in the column 收货地址" in notes
    assert "2 of them could not be parsed" in notes
    out = read_csv(tmp_path / "out.csv")
    assert [row["单号"] for row in out] == ["1", "2", "3", "4"]
    assert out[0]["备注"] == "'=HYPERLINK(1)"
    assert (out[0]["province"], out[0]["town"]) == ("浙江省", "五常街道")
    assert out[0]["entity_roadno"] == "969号"
    assert "empty" in out[1]["error"]
    assert "2001 characters" in out[2]["error"]
    assert out[3]["district"] == "徐汇区"
    assert out[3]["error"] == ""
    assert beside(tmp_path) == {"in.csv", "out.csv"}


def test_a_spreadsheet_to_a_spreadsheet_and_to_json(server: Any, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["金额", "客户的住址"])
    book.active.append([12.5, GOOD])
    book.active.append([3, "鼓楼区中山北路216号"])
    book.save(tmp_path / "in.xlsx")
    for output in ("out.xlsx", "out.json"):
        done = tritalk("parse", str(tmp_path / "in.xlsx"), "--output", str(tmp_path / output))
        assert done.returncode == 0, done.stderr
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").worksheets[0]
    names, first, second = (list(row) for row in sheet.iter_rows(values_only=True))
    assert first[:2] == [12.5, GOOD]
    assert first[names.index("district")] == "余杭区"
    assert first[names.index("confidence")] > 0.5
    assert not second[names.index("province")]
    assert "南京市 鼓楼区" in second[names.index("candidates")]
    one, other = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert one["row"] == {"金额": 12.5, "客户的住址": GOOD}
    assert one["division"]["district"] == "余杭区"
    assert [e["type"] for e in one["entities"]][:4] == ["prov", "city", "district", "town"]
    assert {c["city"] for c in other["candidates"]} >= {"南京市", "徐州市"}


def test_broken_bytes_mark_their_row(server: Any, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(GOOD.encode() + b"\n\xff\xfe\xff\n\n" + GOOD.encode())
    done = tritalk("parse", str(tmp_path / "in.txt"), "--output", str(tmp_path / "out.csv"))
    assert done.returncode == 1, done.stderr
    out = read_csv(tmp_path / "out.csv")
    assert [row["district"] for row in out] == ["余杭区", "", "", "余杭区"]
    assert "not UTF-8" in out[1]["error"]
    assert out[2]["error"] == ""  # an empty line is nobody's mistake


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.csv", "--output", "o.csv"], "nowhere.csv is no file"),
        (["in.csv", "--output", "o.out"], "--format"),
        (["in.csv", "--output", "in.csv"], "is the file that is read"),
        (["in.csv", "--output", "no/folder/o.csv"], "a folder that exists"),
        (["in.csv", "--output", "o.csv", "--column", "没有"], "there are: 单号, 收货地址, 备注"),
        (["-", "--output", "o.csv"], "needs a file to read"),
        (["in.csv", "--output", "o.csv", "--json"], "--format json"),
        (["in.csv", "--column", "收货地址"], "say with --output"),
        (["in.csv"], "in.csv is a file; say with --output where its rows go"),
    ],
)
def test_what_cannot_work_is_said_before_a_server_is_needed(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    write_csv(tmp_path / "in.csv", rows(1))
    done = subprocess.run(
        [*TRITALK, "parse", *arguments],
        cwd=tmp_path,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert words in done.stderr.decode()
    assert len(done.stderr.splitlines()) == 1
    assert beside(tmp_path) == {"in.csv"}


@contextmanager
def begun(source: Path, output: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run that has answered 200 rows and goes on."""
    journal = output.with_name(f".{output.name}.journal")
    command = [*TRITALK, "parse", str(source), "--output", str(output)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 60
        while not journal.exists() or journal.read_bytes().count(b"\n") < 200:
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.01)
        yield process


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_was_ended_goes_on(server: Any, tmp_path: Path, how: signal.Signals) -> None:
    number = 1500
    source = write_csv(tmp_path / "in.csv", rows(number))
    output, journal = tmp_path / "out.csv", tmp_path / ".out.csv.journal"
    with begun(source, output) as process:
        process.send_signal(how)
        _, notes = process.communicate(timeout=30)
        assert process.returncode == (-how if how == signal.SIGKILL else 130)
    assert not output.exists()
    if how == signal.SIGINT:
        assert "goes on from here" in notes.decode()
    kept = journal.read_bytes()
    before = kept.count(b"\n") - 1
    assert 199 <= before < number
    done = tritalk("parse", str(source), "--output", str(output))
    assert done.returncode == 0, done.stderr
    out = read_csv(output)
    assert [[row[name] for name in HEADER] for row in out] == rows(number)
    assert all(row["town"] == "高桥镇" for row in out)
    # Each answer stands in its own row; the network may miss a figure of a number now and then.
    houses = [row["entity_houseno"] for row in out]
    own = [f"{i + 1}幢" for i in range(number)]
    assert all(mine.endswith(found) for mine, found in zip(own, houses, strict=True))
    assert sum(map(str.__eq__, own, houses)) > 0.5 * number
    assert beside(tmp_path) == {"in.csv", "out.csv"}


def test_a_finished_part_is_not_asked_for_again(server: Any, tmp_path: Path) -> None:
    """A journal with an answer of its own shows up in the output."""
    source = write_csv(tmp_path / "in.csv", rows(3))
    output, journal = tmp_path / "out.csv", tmp_path / ".out.csv.journal"
    script = (
        "from pathlib import Path; from desktop.addresses.run import FileRun;"
        "from desktop.addresses.journal import Journal, fingerprint; import sys;"
        "source, output = map(Path, sys.argv[1:]);"
        "about = {'source': fingerprint(source), 'column': 1, 'rows': 3};"
        "journal = Journal(output, about); journal.add({'error': 'kept'})"
    )
    subprocess.run([sys.executable, "-c", script, str(source), str(output)], check=True)
    assert journal.exists()
    done = tritalk("parse", str(source), "--output", str(output))
    assert done.returncode == 1
    assert [row["error"] for row in read_csv(output)] == ["kept", "", ""]


def test_a_killed_address_model_costs_no_row(server: Any, tmp_path: Path) -> None:
    number = 1200
    source = write_csv(tmp_path / "in.csv", rows(number))
    output = tmp_path / "out.csv"
    with begun(source, output) as process:
        for pid in server.stub_pids("address_parser"):
            os.kill(pid, signal.SIGKILL)
        _, notes = process.communicate(timeout=200)
        assert process.returncode == 0, notes.decode()
    out = read_csv(output)
    assert len(out) == number
    assert all(row["town"] == "高桥镇" for row in out)
    server.wait_ready()
