"""Files of addresses: CSV, TSV and TXT in any encoding, workbooks changed inside and outside."""

from __future__ import annotations

import datetime
import io
import random
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

import openpyxl

from desktop.addresses.cells import dump_cells, load_cells
from desktop.addresses.tables import Table
from desktop.triton.types import InvalidInput
from tests.fuzz.harness import allowed, folder, unzipped, zipped

MAX_LEN = 16_384
_KINDS = (".csv", ".tsv", ".txt", ".xlsx")
_ROWS = '编号,详细地址,备注\n1,浙江省杭州市西湖区文三路90号,"a\nb"\n2,上海市静安区南京西路,\n'
_PIECES = (
    b"<v>1e400</v>", b't="s"', b't="d"', b't="e"', b't="b"', b's="99"', b'r="XFE1"', b'r="A0"',
    b"<v>-1</v>", b"<f>A1</f>", b'<!DOCTYPE x [<!ENTITY a "b">]>&a;', b"<c/>", b"</row>", b"&#0;",
    b'r="99999999999"', b'count="x"', b'numFmtId="14"', b"<v>3000000</v>", b"<v>2021-13-01</v>",
)  # fmt: skip


@lru_cache(maxsize=1)
def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["地址", "数", "日"])
    book.active.append(["杭州市西湖区文三路90号", 1.5, datetime.datetime(2026, 11, 30)])
    book.active.append([True, datetime.time(7, 30), "=1+1"])
    stream = io.BytesIO()
    book.save(stream)
    # Stored, so that bytes changed by chance reach the XML and not only the packing.
    keep = ("docProps/", "xl/theme")
    return zipped({n: c for n, c in unzipped(stream.getvalue()).items() if not n.startswith(keep)})


def seeds() -> Iterable[bytes]:
    for place, encoding in enumerate(("utf-8", "gb18030", "utf-16", "big5", "utf-8-sig")):
        words = _ROWS if encoding != "big5" else "地址,備註\n臺北市中正區忠孝東路,無\n"
        yield bytes([place % 3]) + words.encode(encoding)
    yield b"\x01" + _ROWS.replace(",", "\t").encode()
    yield b'\x00a;"b\nc;d\n1;2;3\n'
    yield b"\x03" + workbook()


def mutate(data: bytes, chance: random.Random) -> bytes:
    """A workbook with one member changed, its checksums right."""
    if not data or data[0] % 4 != 3:
        return data
    try:
        members = unzipped(data[1:])
    except Exception:
        return data
    if not members:
        return data
    name = chance.choice(sorted(members))
    content = members[name]
    at = chance.randrange(len(content) + 1)
    what = chance.randrange(6)
    if what == 0:
        del members[name]
    elif what == 1:
        members[chance.choice(sorted(members))] = content
    elif what == 2:
        members[name] = content[:at]
    else:
        members[name] = content[:at] + chance.choice(_PIECES) + content[at + chance.randrange(24) :]
    return data[:1] + zipped(members, chance.choice((0, 0, 0, 8, 12, 14)))


def one(data: bytes) -> None:
    file = folder() / f"table{_KINDS[(data[0] if data else 0) % 4]}"
    file.write_bytes(data[1:])
    with allowed(InvalidInput):
        table = Table.open(file)
        width, count = len(table.columns), 0
        assert len(set(table.columns)) == width
        for row in islice(table.rows(), 2000):
            count += 1
            assert len(row) == width
            assert repr(load_cells(dump_cells(row))) == repr(row), "a cell comes back otherwise"
        assert count == min(table.total, 2000)
        assert 0 <= table.column() < width
