"""A file in work: nothing is lost, what is asked for comes in order, and it can be resumed."""

from __future__ import annotations

import csv
import datetime
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from desktop.addresses import work_run
from desktop.addresses.marks import Mark
from desktop.addresses.tables import Cancelled, Table
from desktop.addresses.workfile import WorkFile, folder
from desktop.triton.types import (
    Division,
    Entity,
    InvalidInput,
    ParsedAddress,
    ServerUnavailable,
    TritalkError,
)

pytestmark = pytest.mark.usefixtures("fresh_home")

SURE = "上海市青浦区华隆路1777号"
UNSURE = "鼓楼区湖南路18号"
NOWHERE = "三楼前台"
REFUSED = "坏地址"


def answer(text: str) -> ParsedAddress | TritalkError:
    if text == REFUSED:
        return InvalidInput("the address has 9 characters; at most 5 can be parsed")
    confidence = {UNSURE: 0.41, NOWHERE: 0.0}.get(text, 0.93)
    division = Division("上海市", "市辖区", "青浦区", "", "310118", confidence)
    if text == NOWHERE:
        division = Division()
    return ParsedAddress(text, (Entity("road", "路", 0, 1, 0.9),), division, (division,))


class Client:
    """Answers ``answer(text)``; fails before each text of ``deaths``, once for every mention."""

    def __init__(self, deaths: Iterable[str] = ()) -> None:
        self.deaths = list(deaths)
        self.asked: list[str] = []
        self.closed = 0

    def parse_each(self, texts: Iterable[str]) -> Iterator[ParsedAddress | TritalkError]:
        for text in texts:
            if text in self.deaths:
                self.deaths.remove(text)
                yield ServerUnavailable("the server is not running")
                return
            self.asked.append(text)
            yield answer(text)

    def close(self) -> None:
        self.closed += 1


def make(path: Path, rows: list[list[str]], column: int = 1) -> WorkFile:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["单号", "地址"], *rows])
    return WorkFile.create(Table.open(path), column)


def finish(work: WorkFile, client: Client | None = None) -> Client:
    client = client or Client()
    work_run.run(work, lambda error, pause: client)
    return client


ROWS = [["1", SURE], ["2", UNSURE], ["", ""], ["4", ""], ["5", REFUSED], ["6", NOWHERE]]


def test_every_row_is_marked(tmp_path: Path) -> None:
    work = make(tmp_path / "a.csv", ROWS)
    client = finish(work)
    assert client.asked == [SURE, UNSURE, REFUSED, NOWHERE]
    lines = work.lines(work.order())
    assert [line.mark for line in lines] == [
        Mark.SURE,
        Mark.CHECK,
        Mark.BLANK,
        Mark.FAILED,
        Mark.FAILED,
        Mark.CHECK,
    ]
    assert lines[0].division == "上海市 市辖区 青浦区"
    assert (lines[0].code, lines[0].confidence, lines[0].score) == ("310118", 0.93, 0.9)
    assert lines[3].error == "The address is empty."
    assert lines[5].confidence is None
    counts = work.counts()
    assert (counts.total, counts.answered, counts.check, counts.failed) == (6, 6, 2, 2)


def test_lists_are_filtered_and_sorted(tmp_path: Path) -> None:
    work = make(tmp_path / "a.csv", ROWS)
    finish(work)
    assert list(work.order(Mark.FAILED)) == [4, 5]
    assert list(work.order(search="青浦 华隆")) == [1]
    assert list(work.order(search="9 characters")) == [5]
    assert list(work.order(search="%")) == []
    assert list(work.order(sort="confidence")) == [2, 1, 3, 4, 5, 6]  # without one: at the end
    assert list(work.order(sort="confidence", descending=True))[:2] == [1, 2]
    assert [line.number for line in work.lines([5, 1])] == [5, 1]
    with pytest.raises(ValueError, match="number; DROP"):
        work.order(sort="number; DROP TABLE rows")


def test_a_run_goes_on_where_it_was_ended(tmp_path: Path) -> None:
    work = make(tmp_path / "a.csv", ROWS)
    first, second = Client(), Client()
    progress = work_run.run(work, lambda *_: first, cancelled=lambda: len(first.asked) >= 2)
    assert progress.done == 4  # two rows needed no server
    again = WorkFile.earlier(tmp_path / "a.csv")
    assert again is not None
    assert again.about == work.about
    (tmp_path / "a.csv").unlink()  # the rows are kept
    last = work_run.run(again, lambda *_: second)
    assert (last.resumed, last.done) == (4, 6)
    assert first.asked + second.asked == [SURE, UNSURE, REFUSED, NOWHERE]


def test_a_server_that_goes_is_waited_for(tmp_path: Path) -> None:
    work = make(tmp_path / "a.csv", ROWS)
    client = Client(deaths=[UNSURE])
    waits: list[tuple[str, float]] = []

    def connect(error: ServerUnavailable | None, pause: float) -> Client:
        waits.append((str(error), pause))
        return client

    work_run.run(work, connect)
    assert waits == [("None", 0.0), ("the server is not running", 1.0)]
    assert work.counts().failed == 2
    assert client.closed == 2


def test_an_address_that_brings_the_server_down_is_given_up(tmp_path: Path) -> None:
    work = make(tmp_path / "a.csv", ROWS)
    finish(work, Client(deaths=[UNSURE] * 9))
    (line,) = work.lines([2])
    assert line.error == "the server failed on this address: the server is not running"
    assert work.counts().answered == 6


def test_corrections_are_kept_beside_the_answer_and_exported(tmp_path: Path) -> None:
    work = make(tmp_path / "a.csv", [*ROWS, ["=1+1", SURE]])
    finish(work)
    mended: dict[str, Any] = {
        "entities": [],
        "division": {
            "province": "江苏省",
            "city": "南京市",
            "district": "鼓楼区",
            "town": "",
            "code": "320106",
            "confidence": None,
        },
        "candidates": [],
    }
    work.correct(2, mended)
    row = work.row(2)
    assert row.corrected == mended
    assert row.result["division"]["confidence"] == 0.41
    assert work.counts().corrected == 1
    assert list(work.order(Mark.CORRECTED)) == [2]
    out = tmp_path / "out.csv"
    assert work.export(out)
    with out.open(encoding="utf-8-sig", newline="") as stream:
        written = list(csv.DictReader(stream))
    assert [r["单号"] for r in written] == ["1", "2", "", "4", "5", "6", "'=1+1"]
    assert (written[1]["district"], written[1]["confidence"]) == ("鼓楼区", "")
    assert [r["corrected"] for r in written] == ["", "yes", *[""] * 5]
    assert work.export(tmp_path / "out.json")
    parsed = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert parsed[1]["corrected"] is True
    assert "corrected" not in parsed[0]
    assert work.export(tmp_path / "out.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").worksheets[0]
    assert sheet.cell(8, 1).data_type == "s"
    work.correct(2, None)
    assert work.counts().corrected == 0
    assert work.lines([2])[0].mark is Mark.CHECK


def test_the_cells_of_a_spreadsheet_come_back_as_they_were(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    cells = [7, 1.5, True, datetime.datetime(2025, 3, 1, 12), datetime.time(8, 30), None, SURE]
    sheet.append(["a", "b", "c", "d", "e", "f", "地址"])
    sheet.append(cells)
    book.save(tmp_path / "a.xlsx")
    work = WorkFile.create(Table.open(tmp_path / "a.xlsx"), 6)
    assert work.row(1).cells == cells
    finish(work)
    work.export(tmp_path / "b.xlsx")
    again = openpyxl.load_workbook(tmp_path / "b.xlsx").worksheets[0]
    assert [cell.value for cell in again[2]][:7] == cells


def test_broken_bytes_are_an_error_of_their_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("单号,地址\n1,".encode() + b"\xe4\xb8\xff" + f"\n2,{SURE}\n".encode())
    work = WorkFile.create(Table.open(path), 1)
    assert finish(work).asked == [SURE]
    assert work.lines([1])[0].error == "The address is not UTF-8 text."
    assert work.export(tmp_path / "b.csv")


def test_another_program_does_not_answer_the_same_rows(tmp_path: Path) -> None:
    work = make(tmp_path / "a.csv", ROWS)
    with work.lock(), pytest.raises(InvalidInput, match=r"another Tritalk is working on a\.csv"):
        finish(work)
    finish(work)


def test_a_cancelled_export_leaves_no_file(tmp_path: Path) -> None:
    work = make(tmp_path / "a.csv", [[str(i), SURE] for i in range(600)])
    assert not work.export(tmp_path / "b.csv", cancelled=lambda: True)
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "home") == ["a.csv"]


def test_what_cannot_be_exported_is_said(tmp_path: Path) -> None:
    work = make(tmp_path / "a.csv", ROWS)
    with pytest.raises(InvalidInput, match="is the file that is read"):
        work.export(tmp_path / "a.csv")
    with pytest.raises(TritalkError, match="cannot be written: No such file or directory"):
        work.export(tmp_path / "nowhere" / "b.csv")


def test_reading_can_be_given_up(tmp_path: Path) -> None:
    make(tmp_path / "a.csv", ROWS).remove()
    table = Table.open(tmp_path / "a.csv")
    with pytest.raises(Cancelled):
        Table.open(tmp_path / "a.csv", cancelled=lambda: True)
    object.__setattr__(table, "cancelled", lambda: True)
    with pytest.raises(Cancelled):
        WorkFile.create(table, 1)
    assert list(folder().iterdir()) == []


def test_a_damaged_one_is_left_out_of_the_list(tmp_path: Path) -> None:
    work = make(tmp_path / "a.csv", ROWS)
    bad = work.path.with_name("bad.addresses")
    bad.write_bytes(b"no database")
    assert [w.about.name for w in WorkFile.all()] == ["a.csv"]
    with pytest.raises(InvalidInput, match="damaged"):
        WorkFile.open(bad)
    work.remove()
    assert WorkFile.all() == []


def test_a_person_may_know_better_whether_the_first_row_is_a_heading(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"甲,{SURE}\n乙,{UNSURE}\n", encoding="utf-8")
    table = Table.open(path)
    assert table.total == 2
    named = table.with_header(True)
    assert (named.total, named.columns) == (1, ["甲", SURE])
    assert WorkFile.create(named, 1).row(1).address == UNSURE
