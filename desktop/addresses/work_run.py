"""Answering the open rows of a :class:`WorkFile`, in order, as long as it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from desktop.addresses.answering import AddressClient, Result, answer_all, result_of
from desktop.addresses.run import Progress
from desktop.addresses.workfile import WorkFile
from desktop.triton.types import ServerUnavailable

# Answers are kept in batches: a transaction costs more than an answer. What is lost when the
# program dies in between is asked for again.
_BATCH = 256
_SECONDS = 0.3

Connect = Callable[[ServerUnavailable | None, float], AddressClient]
"""See :func:`answer_all`."""


def run(
    work: WorkFile,
    connect: Connect,
    report: Callable[[Progress], None] = lambda progress: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Progress:
    """Runs until every row is answered or ``cancelled()``; what was answered is kept in any case.

    Raises InvalidInput where another program works on it, ServerUnavailable where ``connect`` gives
    up, TritalkError when the disk is full.
    """
    with work.lock():
        counts = work.counts()
        run = _Run(work, counts.answered, counts.failed)
        report(run.progress())

        def add(result: Result) -> None:
            run.add(result)
            report(run.progress())

        try:
            answer_all(run.answers, add, lambda: run.done, work.about.total, connect, cancelled)
        finally:
            run.flush()
        return run.progress()


class _Run:
    def __init__(self, work: WorkFile, done: int, errors: int) -> None:
        self.work = work
        self.done = self.resumed = done
        self.errors = errors
        self._numbers = (number for number, _ in work.unanswered())
        self._last = 0
        self._batch: list[tuple[int, Result]] = []
        self._began = self._flushed = time.monotonic()

    def progress(self) -> Progress:
        seconds = time.monotonic() - self._began
        total = self.work.about.total
        return Progress("parsing", self.done, total, self.resumed, self.errors, seconds)

    def answers(self, client: AddressClient) -> Iterator[Result]:
        texts = (text for _, text in self.work.unanswered(self._last))
        return map(result_of, client.parse_each(texts))

    def add(self, result: Result) -> None:
        self._last = next(self._numbers)
        self._batch.append((self._last, result))
        self.done += 1
        self.errors += "error" in result
        if len(self._batch) == _BATCH or time.monotonic() - self._flushed > _SECONDS:
            self.flush()

    def flush(self) -> None:
        batch, self._batch = self._batch, []
        if batch:
            self.work.add(batch)
        self._flushed = time.monotonic()
