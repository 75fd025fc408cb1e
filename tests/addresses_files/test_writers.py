"""What is written: every original cell, the results, nothing that a spreadsheet computes."""

from __future__ import annotations

import csv
import datetime
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from desktop.addresses.writers import (
    RESULT_COLUMNS,
    WRITERS,
    format_of,
    result_cells,
    result_columns,
)
from desktop.triton.types import InvalidInput

DIVISION = {
    "province": "浙江省",
    "city": "杭州市",
    "district": "余杭区",
    "town": "",
    "code": "330110",
    "confidence": 0.9,
}
OTHER = {**DIVISION, "district": "临平区", "code": "330113"}
RESULT: dict[str, Any] = {
    "entities": [
        {"type": "road", "text": "五常大道", "start": 0, "end": 4, "score": 0.9},
        {"type": "road", "text": "荆长大道", "start": 5, "end": 9, "score": 0.9},
        {"type": "poi", "text": "=cmd|'/c calc'!A1", "start": 9, "end": 20, "score": 0.9},
    ],
    "division": DIVISION,
    "candidates": [DIVISION, OTHER],
}
DANGEROUS = ["=1+1", "+86(571)", "-2+3", "@SUM(A1)", "\t=1", "＝1+1"]
HARMLESS = ["-5", "+3.5", "12%", "1,234.5", "杭州=好", "'quoted"]


def write(path: Path, format: str, columns: list[str], rows: list[tuple[list[Any], Any]]) -> None:
    with WRITERS[format](path, columns) as writer:
        for row, result in rows:
            writer.write(row, result)
        writer.commit()


def test_the_cells_of_a_result() -> None:
    cells = dict(zip(RESULT_COLUMNS, result_cells(RESULT), strict=True))
    assert cells["district"] == "余杭区"
    assert cells["confidence"] == 0.9
    assert cells["candidates"] == "浙江省 杭州市 临平区"
    assert cells["entity_road"] == "五常大道 | 荆长大道"
    assert cells["error"] == ""
    failed = dict(zip(RESULT_COLUMNS, result_cells({"error": "why"}), strict=True))
    assert failed == {**dict.fromkeys(RESULT_COLUMNS, ""), "error": "why"}


def test_columns_that_exist_are_not_overwritten() -> None:
    added = result_columns(["city", "parsed_city", "x"])
    assert "parsed_parsed_city" in added
    assert "city" not in added
    assert len(added) == len(set(added)) == len(RESULT_COLUMNS)


def test_csv(tmp_path: Path) -> None:
    rows = [([text, "n"], RESULT) for text in DANGEROUS + HARMLESS]
    write(tmp_path / "o.csv", "csv", ["=col", "b"], rows)
    assert (tmp_path / "o.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    with (tmp_path / "o.csv").open(encoding="utf-8-sig", newline="") as stream:
        header, *written = csv.reader(stream)
    assert header[0] == "'=col"
    assert [row[0] for row in written] == [f"'{text}" for text in DANGEROUS] + HARMLESS
    assert written[0][header.index("entity_poi")] == "'=cmd|'/c calc'!A1"


def test_xlsx(tmp_path: Path) -> None:
    day = datetime.datetime(2025, 3, 1)
    rows: list[tuple[list[Any], Any]] = [([text, 3], RESULT) for text in DANGEROUS + HARMLESS]
    rows.append((["a\x00b", day], {"error": "why"}))
    write(tmp_path / "o.xlsx", "xlsx", ["a", "b"], rows)
    sheet = openpyxl.load_workbook(tmp_path / "o.xlsx").worksheets[0]
    cells = [list(row) for row in sheet.iter_rows()]
    assert [cell.value for cell in cells[0]] == ["a", "b", *RESULT_COLUMNS]
    assert [row[0].value for row in cells[1:-1]] == DANGEROUS + HARMLESS
    assert all(cell.data_type != "f" for row in cells for cell in row)
    assert cells[1][1].value == 3
    assert cells[-1][0].value == "a\ufffdb"
    assert cells[-1][1].value == day


def test_json(tmp_path: Path) -> None:
    rows: list[tuple[list[Any], Any]] = [
        (["=1", 3], RESULT),
        ([None, "\udcff"], {"error": "why"}),
        (["", ""], {}),
    ]
    write(tmp_path / "o.json", "json", ["a", "b"], rows)
    written = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert written[0]["row"] == {"a": "=1", "b": 3}
    assert written[0]["division"] == DIVISION
    assert written[1] == {"row": {"a": None, "b": "?"}, "error": "why"}
    assert written[2] == {"row": {"a": "", "b": ""}}
    write(tmp_path / "empty.json", "json", ["a"], [])
    assert json.loads((tmp_path / "empty.json").read_text()) == []


@pytest.mark.parametrize("format", ["csv", "xlsx", "json"])
def test_a_file_comes_whole_or_not_at_all(tmp_path: Path, format: str) -> None:
    output = tmp_path / f"o.{format}"
    output.write_text("before")

    def fail() -> None:
        with WRITERS[format](output, ["a"]) as writer:
            writer.write(["x"], RESULT)
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        fail()
    assert output.read_text() == "before"
    assert list(tmp_path.iterdir()) == [output]


def test_the_format_is_named_or_told_by_the_suffix() -> None:
    assert format_of(Path("a.XLSX"), None) == "xlsx"
    assert format_of(Path("a.out"), "json") == "json"
    with pytest.raises(InvalidInput, match="--format"):
        format_of(Path("a.out"), None)
