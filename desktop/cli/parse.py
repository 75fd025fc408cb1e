"""``tritalk parse``: an address, one a line, or a file, into entities and the official division."""

from __future__ import annotations

import argparse
import codecs
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from desktop.addresses.run import FileRun
from desktop.addresses.tables import SUFFIXES
from desktop.addresses.writers import FORMATS
from desktop.cli.chat import printable
from desktop.cli.progress import ProgressBar
from desktop.cli.session import server_session
from desktop.triton.types import (
    Division,
    InvalidInput,
    ParsedAddress,
    ServerUnavailable,
    TritalkError,
)


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "parse",
        help="parse an address, one a line from standard input, or a file",
        description="Parse TEXT, or with - (or nothing) one address a line from standard input; "
        "answers come in order. A wrong line costs only its own answer. With --output TEXT is a "
        "file (CSV, TSV, TXT or XLSX): its rows are written with the results in columns of their "
        "own. A run that was stopped goes on when the same command is given again.",
    )
    parser.add_argument(
        "text", nargs="?", default="-", metavar="TEXT", help="an address, -, or a file"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object an address")
    parser.add_argument("--output", metavar="OUT", type=Path, help="parse a file into this one")
    parser.add_argument(
        "--column", metavar="NAME", help="the column of addresses, by name or number from 1"
    )
    parser.add_argument(
        "--format", choices=FORMATS, help="of the output, where its name does not tell"
    )
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    if arguments.output is not None:
        return run_file(arguments)
    if arguments.column is not None or arguments.format is not None:
        raise InvalidInput("--column and --format are for files; say with --output where to write")
    if arguments.text != "-" and not arguments.text.strip():
        raise InvalidInput("the address is empty; write one first")
    if arguments.text != "-" and looks_like_a_file(arguments.text):
        if Path(arguments.text).suffix.lower() in {".csv", ".tsv", ".xlsx"}:
            raise InvalidInput(
                f"{arguments.text} is a file; say with --output where its rows go, as in: "
                f"tritalk parse {arguments.text} --output parsed.xlsx"
            )
        raise InvalidInput(
            f"{arguments.text} is a file; to parse its lines: tritalk parse - < {arguments.text}"
        )
    if is_named_like_a_table(arguments.text):
        raise InvalidInput(f"{arguments.text} is no file; check its name")
    with server_session() as client:
        if arguments.text != "-":
            show(client.parse([arguments.text])[0], arguments.json)
            return 0
        texts: list[str] = []
        failed = False
        for i, answer in enumerate(client.parse_each(_lines(texts))):
            text, texts[i] = texts[i], ""  # answered: a long input must not pile up
            if isinstance(answer, TritalkError):
                failed = True
                if not is_utf8(text):
                    answer = InvalidInput(_NOT_UTF8)  # noqa: PLW2901
                show_error(text, answer, i + 1, arguments.json)
            else:
                show(answer, arguments.json)
    return 1 if failed else 0


def run_file(arguments: argparse.Namespace) -> int:
    """The rows of a file; exit code 1 where some of them could not be parsed."""
    if arguments.text == "-":
        raise InvalidInput("--output needs a file to read, as in: tritalk parse FILE --output OUT")
    if arguments.json:
        raise InvalidInput("--json is for single addresses; with --output say --format json")
    job = FileRun(Path(arguments.text), arguments.output, arguments.column, arguments.format)
    print(f"{job.table.total:,} rows, addresses in the column {job.column_name}", file=sys.stderr)
    bar = ProgressBar()
    try:
        with server_session() as client:
            done = job(client, bar)
    except KeyboardInterrupt:
        bar.end()
        print("Stopped. The same command goes on from here.", file=sys.stderr)
        raise
    except ServerUnavailable as error:
        bar.end()
        raise ServerUnavailable(
            f"{error}; what was answered is kept, and the same command goes on from there"
        ) from error
    except OSError as error:
        bar.end()
        raise TritalkError(f"{arguments.output} cannot be written: {error.strerror}") from error
    bar.end()
    failed = f", {done.errors:,} of them could not be parsed" if done.errors else ""
    print(f"{done.total:,} rows written to {arguments.output}{failed}", file=sys.stderr)
    return 1 if done.errors else 0


def _lines(texts: list[str]) -> Iterator[str]:
    for i, line in enumerate(_raw_lines()):
        if i == 0:
            line = line.removeprefix(codecs.BOM_UTF8)  # noqa: PLW2901 - as Windows writes it
        texts.append(line.decode("utf-8", "surrogateescape").rstrip("\r"))
        yield texts[-1]


def _raw_lines() -> Iterator[bytes]:
    # Unbuffered: this runs in a daemon thread, and Python aborts at its end when such a thread
    # still holds the lock of the buffered sys.stdin.
    rest = b""
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as stdin:
        while block := stdin.read(65536):
            *lines, rest = (rest + block).split(b"\n")
            yield from lines
    if rest:
        yield rest


def show(address: ParsedAddress, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(address), ensure_ascii=False), flush=True)
        return
    print(printable(address.text))
    for entity in address.entities:
        print(f"  {entity.type:<10} {printable(entity.text)}  {entity.score:.2f}")
    for contact in address.contacts:
        print(f"  {contact.type:<10} {printable(contact.text)}")
    undecided = "several fit:" if address.candidates else "not determined by the text"
    print(f"  {'division':<10} {describe(address.division) or undecided}")
    others = [c for c in address.candidates if c != address.division]
    for candidate in others[:5]:
        print(f"  {'or':<10} {describe(candidate)}")
    if address.one_line:
        print(f"  {'one line':<10} {printable(address.one_line)}")
    sys.stdout.flush()


_NOT_UTF8 = (
    "the line is not UTF-8; convert the file first, for GBK with: iconv -f gb18030 -t utf-8 FILE"
)


def is_utf8(text: str) -> bool:
    return not any("\udc80" <= c <= "\udcff" for c in text)


def looks_like_a_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a NUL in it
        return False


def is_named_like_a_table(text: str) -> bool:
    """No address ends as a file's name does, so it is a file that is not there."""
    return text.lower().endswith(SUFFIXES)


def show_error(text: str, error: TritalkError, line: int, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"text": text, "error": str(error)}, ensure_ascii=False), flush=True)
    else:
        print(f"tritalk: line {line}: {error}", file=sys.stderr)


def describe(division: Division) -> str:
    """A division in one line: its levels, its code, its confidence."""
    levels = (division.province, division.city, division.district, division.town)
    names = [name for name in levels if name]
    if not names:
        return ""
    code = f" {division.code}" if division.code else ""
    return f"{' '.join(names)}{code}  {division.confidence:.2f}"
