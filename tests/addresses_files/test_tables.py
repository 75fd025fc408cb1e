"""Tables as people have them: encodings, delimiters, headers, broken quotes, spreadsheets."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path

import openpyxl
import pytest

from desktop.addresses.tables import Table, plain
from desktop.addresses.text_files import is_broken
from desktop.triton.types import InvalidInput

ROWS = [
    ["单号", "收件人", "收货地址"],
    ["A1", "张三", "浙江省杭州市余杭区文一西路969号"],
    ["A2", "李四", "上海市徐汇区陕西南路666弄12号501室"],
]


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def joined(delimiter: str = ",", end: str = "\n") -> str:
    return "".join(delimiter.join(row) + end for row in ROWS)


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("gbk", "gb18030"),
        ("gb18030", "gb18030"),
        ("utf-16", "utf-16"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(tmp_path: Path, encoding: str, found: str, end: str) -> None:
    table = Table.open(write(tmp_path / "a.csv", joined(end=end), encoding))
    assert table.encoding == found
    assert table.columns == ROWS[0]
    assert list(table.rows()) == ROWS[1:]
    assert table.total == 2
    assert table.column() == 2


def test_a_character_cut_by_a_block_end_is_no_broken_one(tmp_path: Path) -> None:
    text = "a" + "地" * 700_000  # three bytes each: a block of 1 MiB ends within one
    assert Table.open(write(tmp_path / "a.txt", text)).encoding == "utf-8"


def test_one_broken_byte_breaks_its_own_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    lines = joined().encode().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1] + b"A\xff3,x,\xe6\x9d\n" + lines[2])
    table = Table.open(path)
    assert table.encoding == "utf-8"
    assert [is_broken("".join(row)) for row in table.rows()] == [False, True, False]


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_delimiters(tmp_path: Path, delimiter: str) -> None:
    table = Table.open(write(tmp_path / "a.csv", joined(delimiter)))
    assert list(table.rows()) == ROWS[1:]


def test_commas_in_addresses_do_not_pass_for_tabs(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "编号\t地址\n1\t杭州市,余杭区\n")
    assert list(Table.open(path).rows()) == [["1", "杭州市,余杭区"]]


def test_quoted_cells_may_hold_everything(tmp_path: Path) -> None:
    text = 'id,地址\n1,"杭州市,余杭区\n文一西路""969""号"\n2,宁波市\n'
    rows = list(Table.open(write(tmp_path / "a.csv", text)).rows())
    assert rows == [["1", '杭州市,余杭区\n文一西路"969"号'], ["2", "宁波市"]]


def test_a_quote_that_nobody_closed_swallows_nothing(tmp_path: Path) -> None:
    lines = ["id,地址", '1,"杭州市余杭区', *(f"{i},宁波市海曙区{i}号" for i in range(2, 500))]
    rows = list(Table.open(write(tmp_path / "a.csv", "\n".join(lines))).rows())
    assert len(rows) == 499
    assert rows[0] == ["1", '"杭州市余杭区']
    assert rows[-1] == ["499", "宁波市海曙区499号"]


def test_ragged_and_empty_rows(tmp_path: Path) -> None:
    text = "id,地址\n1,杭州市,多的\n\n2\n3,宁波市\n\n\n"
    table = Table.open(write(tmp_path / "a.csv", text))
    assert table.columns == ["id", "地址", "column_3"]
    assert list(table.rows()) == [
        ["1", "杭州市", "多的"],
        ["", "", ""],
        ["2", "", ""],
        ["3", "宁波市", ""],
    ]


def test_without_a_header(tmp_path: Path) -> None:
    text = "1,张三,杭州市余杭区文一西路969号\n2,李四,宁波市海曙区高桥镇5号\n"
    table = Table.open(write(tmp_path / "a.csv", text))
    assert table.columns == ["column_1", "column_2", "column_3"]
    assert table.total == 2
    assert table.column() == 2
    assert table.column("3") == 2


def test_columns_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "地址,名称,地址_2,名称\n杭州市余杭区,a,宁波市,b\n")
    columns = Table.open(path).columns
    assert len(set(columns)) == 4
    assert columns[:3] == ["地址", "名称", "地址_2"]


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("地址,备注", "杭州市余杭区文一西路,放门口", "地址"),
        ("寄件地址,详细地址", "杭州市余杭区五常街道,宁波市海曙区高桥镇5号", "详细地址"),
        ("name,Address,phone", "张三,杭州市余杭区文一西路,1", "Address"),
        ("客户,内容", "张三,杭州市余杭区文一西路969号3幢", "内容"),
        ("地址,送货地址", ",杭州市余杭区文一西路969号", "送货地址"),
    ],
)
def test_the_column_is_guessed(tmp_path: Path, header: str, row: str, expected: str) -> None:
    table = Table.open(write(tmp_path / "a.csv", f"{header}\n{row}\n"))
    assert table.columns[table.column()] == expected


def test_no_column_of_addresses_and_a_wrong_name_say_what_there_is(tmp_path: Path) -> None:
    table = Table.open(write(tmp_path / "a.csv", "name,age\nBob,3\n"))
    with pytest.raises(InvalidInput, match="--column; there are: name, age"):
        table.column()
    with pytest.raises(InvalidInput, match="no column 地址; there are: name, age"):
        table.column("地址")


def test_text_files_have_an_address_a_line(tmp_path: Path) -> None:
    table = Table.open(write(tmp_path / "a.txt", "杭州市,余杭区\n\n宁波市\t海曙区\n"))
    assert table.columns == ["address"]
    assert list(table.rows()) == [["杭州市,余杭区"], [""], ["宁波市\t海曙区"]]


def test_spreadsheets_keep_their_values(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    day = datetime.datetime(2025, 3, 1)
    sheet.append(["地址", "件数", "日期", "电话"])
    sheet.append(["杭州市余杭区文一西路969号", 3.0, day, "057100000000"])
    sheet.append([None, None, None, None])
    sheet.append([12, None, None, None])
    book.save(tmp_path / "a.xlsx")
    table = Table.open(tmp_path / "a.xlsx")
    assert table.columns == ["地址", "件数", "日期", "电话"]
    rows = list(table.rows())
    assert rows[0] == ["杭州市余杭区文一西路969号", 3, day, "057100000000"]
    assert [plain(cell) for cell in rows[1]] == ["", "", "", ""]
    assert plain(rows[2][0]) == "12"
    assert table.column() == 0


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.xls", b"x", "no known kind"),
        ("a.xlsx", b"no zip", "no readable XLSX"),
        ("a.csv", b"", "holds no rows"),
        ("a.csv", b"\n\n \n", "holds no rows"),
        ("b.csv", None, "is no file"),
    ],
)
def test_what_cannot_be_read_says_why(
    tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=words):
        Table.open(tmp_path / name)


def test_a_spreadsheet_that_breaks_off_is_not_readable(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["地址"])
    book.active.append(["杭州市余杭区"])
    book.save(tmp_path / "whole.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "whole.xlsx") as whole,
        zipfile.ZipFile(tmp_path / "half.xlsx", "w") as half,
    ):
        for name in whole.namelist():
            content = whole.read(name)
            cut = len(content) // 2 if name.endswith("sheet1.xml") else len(content)
            half.writestr(name, content[:cut])
    with pytest.raises(InvalidInput, match="no readable XLSX"):
        Table.open(tmp_path / "half.xlsx")
