"""Gathering of waiting jobs into batches by worker threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from server_bundle.address.batching import Batcher


@dataclass
class Job:
    name: int
    rows: int = 1
    answered: threading.Event = field(default_factory=threading.Event)


class Handler:
    """Answers when it is let, and remembers the batches."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.failures: list[tuple[list[int], str]] = []
        self.go = threading.Semaphore(0)
        self.began = threading.Semaphore(0)

    def __call__(self, jobs: Sequence[Job]) -> None:
        self.batches.append([job.name for job in jobs])
        self.began.release()
        self.go.acquire()
        if any(job.name < 0 for job in jobs):
            raise ValueError("a bad job")
        for job in jobs:
            job.answered.set()

    def failed(self, jobs: Sequence[Job], error: Exception) -> None:
        self.failures.append(([job.name for job in jobs], str(error)))


@pytest.fixture
def handler() -> Iterator[Handler]:
    handler = Handler()
    yield handler
    handler.go.release(1000)


def test_what_waits_becomes_one_batch(handler: Handler) -> None:
    batcher = Batcher(handler, handler.failed, max_rows=10, workers=1)
    batcher.put(Job(0))
    handler.began.acquire()
    for i in range(1, 26):
        batcher.put(Job(i))
    handler.go.release(4)
    batcher.close()
    assert handler.batches == [[0], [*range(1, 11)], [*range(11, 21)], [*range(21, 26)]]


def test_rows_count_and_a_large_job_goes_alone(handler: Handler) -> None:
    batcher = Batcher(handler, handler.failed, max_rows=10, workers=1)
    batcher.put(Job(0))
    handler.began.acquire()
    for i, rows in enumerate([64, 4, 6, 5, 5], 1):
        batcher.put(Job(i, rows))
    handler.go.release(4)
    batcher.close()
    assert handler.batches == [[0], [1], [2, 3], [4, 5]]


def test_a_second_worker_goes_on_while_the_first_waits(handler: Handler) -> None:
    batcher = Batcher(handler, handler.failed, max_rows=10, workers=2)
    first, second = Job(1), Job(2)
    batcher.put(first)
    handler.began.acquire()
    batcher.put(second)
    handler.began.acquire()
    assert handler.batches == [[1], [2]]
    handler.go.release(2)
    batcher.close()
    assert first.answered.is_set()
    assert second.answered.is_set()


def test_a_failure_ends_its_own_batch_only(handler: Handler) -> None:
    batcher = Batcher(handler, handler.failed, max_rows=10, workers=1)
    handler.go.release(100)
    batcher.put(Job(-1))
    handler.began.acquire()
    after = Job(1)
    batcher.put(after)
    batcher.close()
    assert handler.failures == [([-1], "a bad job")]
    assert after.answered.is_set()


@pytest.mark.parametrize("workers", [1, 3])
def test_closing_answers_what_waits(handler: Handler, workers: int) -> None:
    batcher = Batcher(handler, handler.failed, max_rows=4, workers=workers)
    jobs = [Job(i) for i in range(50)]
    for job in jobs:
        batcher.put(job)
    handler.go.release(1000)
    batcher.close()
    assert all(job.answered.is_set() for job in jobs)
    assert sorted(name for batch in handler.batches for name in batch) == list(range(50))
