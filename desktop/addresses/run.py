"""Parsing a whole file: every row answered in order, resumable, memory bounded.

The results go to a journal first and are joined with the rows at the end. When the server fails,
the run waits for it to come back and goes on at the row where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from desktop.addresses.answering import (
    EMPTY,
    AddressClient,
    Result,
    answer_all,
    not_text,
    result_of,
)
from desktop.addresses.journal import Journal, fingerprint
from desktop.addresses.tables import Table, plain
from desktop.addresses.text_files import is_broken
from desktop.addresses.writers import EXCEL_ROWS, WRITERS, format_of
from desktop.triton.client import TritonClient
from desktop.triton.types import InvalidInput, ServerUnavailable

# How long a server may stay away before the run ends.
PATIENCE = 120.0


@dataclass(frozen=True)
class Progress:
    """``done`` rows of ``total``, ``resumed`` of them by an earlier run; ``seconds`` of this run.
    ``phase``: ``parsing`` or ``writing``."""

    phase: str
    done: int
    total: int
    resumed: int
    errors: int
    seconds: float

    @property
    def rate(self) -> float:
        """Rows a second of this run."""
        return (self.done - self.resumed) / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        return (self.total - self.done) / self.rate if self.rate > 0 else None


Report = Callable[[Progress], None]


class FileRun:
    """``source`` → ``output``, with the addresses in ``column`` (a name, a number from 1, or None:
    guessed). What cannot work raises InvalidInput here, before a server is needed."""

    def __init__(
        self, source: Path, output: Path, column: str | None = None, format: str | None = None
    ) -> None:
        self.output = output
        self.format = format_of(output, format)
        self.table = Table.open(source)
        if output.exists() and output.samefile(source):
            raise InvalidInput(f"{output} is the file that is read; write to another one")
        if output.is_dir() or not output.absolute().parent.is_dir():
            raise InvalidInput(f"{output} cannot be written; give a file in a folder that exists")
        if self.format == "xlsx" and self.table.total >= EXCEL_ROWS:
            raise InvalidInput(
                f"{self.table.total:,} rows do not fit into a spreadsheet; choose csv or json"
            )
        self.column = self.table.column(column)

    @property
    def column_name(self) -> str:
        return self.table.columns[self.column]

    def __call__(
        self,
        client: TritonClient,
        report: Report = lambda progress: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Progress:
        """Runs to the end and returns the last progress; after a cancellation nothing is written,
        and the next run goes on.

        Raises ServerUnavailable when the server does not come back, InvalidInput, and OSError when
        the disk is full. KeyboardInterrupt may end it at any time.
        """
        about = {
            "source": fingerprint(self.table.path),
            "column": self.column,
            "rows": self.table.total,
        }
        began = time.monotonic()
        with Journal(self.output, about) as journal:
            resumed = journal.done

            def progress(phase: str, done: int) -> Progress:
                seconds = time.monotonic() - began
                return Progress(phase, done, self.table.total, resumed, journal.errors, seconds)

            report(progress("parsing", journal.done))
            self._parse(
                client, journal, lambda: report(progress("parsing", journal.done)), cancelled
            )
            last = progress("parsing", journal.done)
            if journal.done == self.table.total:
                report(progress("writing", journal.done))
                self._write(journal)
                journal.remove()
            return last

    def _texts(self, first: int) -> Iterator[str]:
        for row in islice(self.table.rows(), first, None):
            yield plain(row[self.column])

    def _parse(
        self,
        client: TritonClient,
        journal: Journal,
        tell: Callable[[], None],
        cancelled: Callable[[], bool],
    ) -> None:
        def add(result: Result) -> None:
            journal.add(result)
            tell()

        def connect(error: ServerUnavailable | None, pause: float) -> TritonClient:
            if error is not None:
                # A server that is back may still be loading its models.
                _wait_ready(client, error, cancelled, pause)
            # A connection of its own: gRPC waits ever longer, up to two minutes, before it tries a
            # broken one again.
            return TritonClient(client.endpoint)

        answer_all(
            lambda connection: self._answers(connection, journal.done),
            add,
            lambda: journal.done,
            self.table.total,
            connect,
            cancelled,
        )

    def _answers(self, client: AddressClient, first: int) -> Iterator[Result]:
        """The results from that row on, in order. Raises ServerUnavailable where the row is not to
        blame."""
        rows = islice(self.table.rows(), first, None)
        answers = client.parse_each(text for text in self._texts(first) if text)
        for row in rows:
            if not any(map(plain, row)):
                yield {}
            elif not (text := plain(row[self.column])):
                yield {"error": EMPTY}
            else:
                answer = next(answers)
                if is_broken(text):
                    yield {"error": not_text(self.table.encoding)}
                else:
                    yield result_of(answer)

    def _write(self, journal: Journal) -> None:
        with WRITERS[self.format](self.output, self.table.columns) as writer:
            for row, result in zip(self.table.rows(), journal.results(), strict=True):
                writer.write(row, result)
            writer.commit()


def _wait_ready(
    client: TritonClient, error: ServerUnavailable, cancelled: Callable[[], bool], pause: float
) -> None:
    end = time.monotonic() + PATIENCE
    time.sleep(pause)
    while True:
        with TritonClient(client.endpoint) as connection:
            if connection.is_ready() or cancelled():
                return
        if time.monotonic() > end:
            raise error
        time.sleep(0.5)
