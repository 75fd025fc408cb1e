"""Jobs of one or more rows, gathered into batches by a few worker threads.

While one worker waits for the network (another process) the other reads and resolves what came
back, so that both are busy. A worker takes whatever is waiting: one row when the machine is idle,
full batches when it is not; nobody waits for a batch to fill.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar


class HasRows(Protocol):
    @property
    def rows(self) -> int: ...


Job = TypeVar("Job", bound=HasRows)


class Batcher(Generic[Job]):
    """``handle`` answers a list of jobs of ``max_rows`` rows in all (a single job may have more).
    It must not raise; what it raises nevertheless ends only that batch, through ``failed``."""

    def __init__(
        self,
        handle: Callable[[Sequence[Job]], None],
        failed: Callable[[Sequence[Job], Exception], None],
        *,
        max_rows: int,
        workers: int = 2,
    ) -> None:
        self._handle = handle
        self._failed = failed
        self._max_rows = max_rows
        self._waiting: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._gathering = threading.Lock()
        self._threads = [
            threading.Thread(target=self._work, name=f"batch-{i}", daemon=True)
            for i in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def put(self, job: Job) -> None:
        self._waiting.put(job)

    def close(self) -> None:
        """Answers what is waiting, then ends the workers."""
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while jobs := self._gather():
            try:
                self._handle(jobs)
            except Exception as error:
                self._failed(jobs, error)

    def _gather(self) -> list[Job]:
        """At least one job, or none at the end. One worker at a time, else they would share out
        what could be one batch."""
        with self._gathering:
            jobs: list[Job] = []
            rows = 0
            while rows < self._max_rows:
                try:
                    job = self._waiting.get(block=not jobs)
                except queue.Empty:
                    break
                if job is None:
                    if jobs:  # this worker's own end comes after its last batch
                        self._waiting.put(None)
                    break
                jobs.append(job)
                rows += job.rows
            return jobs
