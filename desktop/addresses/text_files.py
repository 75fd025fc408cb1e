"""Text files as they come: the encoding found out, broken records kept from swallowing others."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from desktop.triton.types import InvalidInput

_BLOCK = 1 << 20
_SAMPLE_LINES = 30
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# A quoted field may hold line ends, but a quote that nobody closed must not swallow the file.
_RECORD_LINES = 50

csv.field_size_limit(1 << 24)


def detect_encoding(path: Path) -> str:
    """By its mark, else UTF-8 or GB18030 (which GBK and GB2312 are part of) where the whole file is
    valid, else the one of the two with fewer broken bytes in the first MiB, unless
    charset-normalizer is sure of another one."""
    with path.open("rb") as stream:
        head = stream.read(_BLOCK)
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    for name in ("utf-8", "gb18030"):
        if _is_valid(path, name):
            return name
    broken = {name: head.decode(name, "replace").count("\ufffd") for name in ("utf-8", "gb18030")}
    best = min(broken, key=lambda name: broken[name])
    if broken[best] * 100 > len(head):
        from charset_normalizer import from_bytes

        guess = from_bytes(head).best()
        if guess is not None:
            return guess.encoding
    return best


def _is_valid(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                decoder.decode(block)
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        return False
    return True


def is_broken(text: str) -> bool:
    """Whether bytes that are not of the file's encoding were read into it."""
    return any("\udc80" <= c <= "\udcff" for c in text)


def lines(path: Path, encoding: str) -> Iterator[str]:
    """The lines without their ends; broken bytes are kept as surrogates."""
    errors = "replace" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"
    with path.open(encoding=encoding, errors=errors, newline="") as stream:
        for line in stream:
            yield line.rstrip("\r\n")


def find_delimiter(path: Path, encoding: str) -> str:
    """The one of comma, tab, semicolon and bar that cuts the first lines most alike."""
    sample = []
    for line in lines(path, encoding):
        sample.append(line)
        if len(sample) == _SAMPLE_LINES:
            break
    best, most = ",", 0.0
    for delimiter in ",\t;|":
        widths = [len(_cells(line, delimiter)) for line in sample if line.strip()]
        if not widths or widths[0] < 2:
            continue
        alike = sum(width == widths[0] for width in widths) / len(widths)
        if alike > most:
            best, most = delimiter, alike
    return best


def records(path: Path, encoding: str, delimiter: str) -> Iterator[list[str]]:
    """The records of a delimited file, one list of cells each; an empty line is an empty list."""
    pending: list[str] = []
    source = lines(path, encoding)
    while True:
        try:
            line = pending.pop(0) if pending else next(source)
        except StopIteration:
            return
        record = [line]
        # An odd number of quotes: a quoted field goes on in the next line.
        odd = _is_open(line, delimiter)
        while odd and len(record) < _RECORD_LINES:
            try:
                more = pending.pop(0) if pending else next(source)
            except StopIteration:
                break
            record.append(more)
            odd ^= bool(more.count('"') % 2)
        if odd:
            pending = record[1:] + pending
            yield line.split(delimiter)
        else:
            yield _cells("\n".join(record), delimiter)


def _is_open(line: str, delimiter: str) -> bool:
    quoted = line.startswith('"') or f'{delimiter}"' in line
    return quoted and bool(line.count('"') % 2)


def _cells(record: str, delimiter: str) -> list[str]:
    try:
        parsed: Any = list(csv.reader([f"{record}\n"], delimiter=delimiter))
    except csv.Error:
        return record.split(delimiter)
    if len(parsed) != 1:  # a quoted field with line ends comes in lines
        parsed = list(csv.reader(record.splitlines(keepends=True), delimiter=delimiter))
    return list(parsed[0]) if parsed else []


def check_readable(path: Path) -> None:
    """Raises InvalidInput with a sentence."""
    if not path.is_file():
        raise InvalidInput(f"{path} is no file; check its name")
    try:
        with path.open("rb") as stream:
            stream.read(1)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error
