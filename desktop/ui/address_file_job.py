"""One file of addresses at a time: opened, parsed in the background, paused, resumed, exported.

The job belongs to the window, not to a page, so it goes on while other pages are shown. All that
blocks happens on workers; what they report comes back here as signals.
"""

from __future__ import annotations

import enum
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot

from desktop.addresses import work_run
from desktop.addresses.answering import AddressClient
from desktop.addresses.run import Progress
from desktop.addresses.tables import Cancelled, Table, plain
from desktop.addresses.workfile import Counts, WorkFile
from desktop.triton.types import InvalidInput, ServerUnavailable
from desktop.ui.session import ServerSession
from desktop.ui.tasks import Task

MODEL = "address_parser"
_PREVIEW_ROWS = 8
_REPORT_S = 0.1
# The rate is that of the last seconds: a server that was away must not spoil the time left.
_RATE_S = 15.0


class Stage(enum.Enum):
    EMPTY = enum.auto()
    OPENING = enum.auto()
    CHOSEN = enum.auto()
    RUNNING = enum.auto()
    PAUSING = enum.auto()
    PAUSED = enum.auto()
    CANCELLED = enum.auto()
    FAILED = enum.auto()
    FINISHED = enum.auto()


AT_WORK = (Stage.OPENING, Stage.RUNNING, Stage.PAUSING)


@dataclass(frozen=True)
class Preview:
    """A file before it is parsed. ``guess``: the index of the column of addresses, None where no
    column looks like it; ``earlier``: work on the same content."""

    table: Table
    size: int
    guess: int | None
    rows: list[list[str]]
    earlier: WorkFile | None
    earlier_counts: Counts | None


@dataclass(frozen=True)
class FileFinished:
    """What a notification needs. ``seconds``: of this run."""

    name: str
    total: int
    check: int
    failed: int
    seconds: float


@dataclass(frozen=True)
class _Report:
    """``phase``: ``reading``, ``waiting``, ``parsing`` or ``exporting``."""

    phase: str
    done: int
    total: int
    errors: int = 0


class FileJob(QObject):
    """Lives on the GUI thread."""

    #: The stage, or what is said about it.
    changed = Signal()
    #: More rows are done.
    progressed = Signal()
    #: A run reached its last row: :class:`FileFinished`.
    finished = Signal(object)
    #: Whether a file is being read, parsed or exported.
    busy_changed = Signal(bool)
    #: An export was written: its path.
    exported = Signal(object)
    #: Something could not be done, and the stage is as before: the exception.
    refused = Signal(object)

    _reported = Signal(object, object)
    _made = Signal(object)

    def __init__(self, session: ServerSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.stage = Stage.EMPTY
        self.preview: Preview | None = None
        self.work: WorkFile | None = None
        self.error: Exception | None = None
        self.phase = ""
        self.done = self.total = self.errors = 0
        self.exporting: Task | None = None
        self.export_done = 0
        self._name = ""
        # What is shown again where the next file cannot be opened: stage, name, error.
        self._before: tuple[Stage, str, Exception | None] = (Stage.EMPTY, "", None)
        self._task: Task | None = None
        self._stop = threading.Event()
        self._connection: AddressClient | None = None
        self._after_stop = Stage.PAUSED
        self._samples: deque[tuple[float, int]] = deque()
        self._busy = False
        queued = Qt.ConnectionType.QueuedConnection
        self._reported.connect(self._show_report, queued)
        self._made.connect(self._show_work, queued)

    # -- what is shown -----------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        return self.stage in AT_WORK or self.exporting is not None

    @property
    def name(self) -> str:
        return self._name

    @property
    def waiting(self) -> bool:
        """Whether a run waits for a server that serves addresses."""
        return self.stage is Stage.RUNNING and self.phase == "waiting"

    @property
    def rate(self) -> float:
        """Rows a second of late; 0 where nothing is known yet."""
        if len(self._samples) < 2:
            return 0.0
        (first, before), (last, now) = self._samples[0], self._samples[-1]
        return (now - before) / (last - first) if last > first else 0.0

    @property
    def seconds_left(self) -> float | None:
        return (self.total - self.done) / self.rate if self.rate > 0 else None

    # -- what a person does ------------------------------------------------------------------------

    def open(self, path: Path) -> None:
        """Look into a file; then it is CHOSEN. One that cannot be read leaves what was there
        before, with the error."""
        if self._refuse_while_busy():
            return
        self._begin_opening(path.name)

        def look(task: Task) -> Preview:
            stop = self._stopper(task)
            earlier = None
            table = Table.open(path, stop)
            preview = _look(table)
            if (earlier := WorkFile.earlier(path)) is not None:
                counts = earlier.counts()
                preview = Preview(table, preview.size, preview.guess, preview.rows, earlier, counts)
            return preview

        self._run(look, self._opened, self._not_opened)

    def say_header(self, header: bool) -> None:
        """Whether the first row names the columns."""
        assert self.preview is not None
        old = self.preview
        table = old.table.with_header(header)

        def look(task: Task) -> Preview:
            new = _look(table)
            return replace(new, earlier=old.earlier, earlier_counts=old.earlier_counts)

        # The rows that are looked at are in memory; this is quick, and yet no work for a click.
        self.session.background.run(look, succeeded=self._looked_again, failed=self.refused.emit)

    def start(self, column: int) -> None:
        """Parse the chosen file from its first row."""
        assert self.preview is not None
        table = self.preview.table

        def work(task: Task) -> Progress:
            stop = self._stopper(task)
            object.__setattr__(table, "cancelled", stop)
            self._reported.emit(task, _Report("reading", 0, table.total))
            made = WorkFile.create(
                table,
                column,
                lambda rows: self._reported.emit(task, _Report("reading", rows, table.total)),
            )
            self._made.emit(made)
            return self._parse(task, made)

        self._after_stop = Stage.CHOSEN
        self._begin(work)

    def reopen(self, work: WorkFile) -> None:
        """Show earlier work; it can be resumed where it is unfinished."""
        if self._refuse_while_busy():
            return
        self._begin_opening(work.about.name)

        def count(task: Task) -> tuple[WorkFile, Counts]:
            return work, work.counts()

        self._run(count, self._reopened, self._not_opened)

    def resume(self) -> None:
        assert self.work is not None
        work = self.work
        self._after_stop = Stage.PAUSED
        self._begin(lambda task: self._parse(task, work))

    @Slot()
    def pause(self) -> None:
        self._end(Stage.PAUSED)

    @Slot()
    def cancel(self) -> None:
        """Stop. What is answered is kept and shown, and can be resumed."""
        if self.exporting is not None:
            self.session.cancel(self.exporting)
            self.exporting = None
            self._tell()
        elif self.stage is Stage.PAUSED:
            self._become(Stage.CANCELLED)
        elif self.stage in AT_WORK:
            reading = self.work is None
            has_preview = self.preview is not None and self.stage is not Stage.OPENING
            before = Stage.CHOSEN if has_preview else Stage.EMPTY
            self._end(before if reading else Stage.CANCELLED)

    @Slot()
    def close_file(self) -> None:
        """Back to the beginning; the work stays in the list."""
        if self.busy:
            return
        self.work = self.preview = None
        self._become(Stage.EMPTY)

    def export(self, output: Path, format: str) -> None:
        assert self.work is not None
        work = self.work

        def write(task: Task) -> bool:
            told = 0.0

            def tell(rows: int) -> None:
                nonlocal told
                if time.monotonic() - told > _REPORT_S:
                    told = time.monotonic()
                    self._reported.emit(task, _Report("exporting", rows, work.about.total))

            return work.export(output, format, tell, lambda: task.cancelled)

        self.export_done = 0
        self.exporting = self.session.background.run(
            write, succeeded=lambda _: self._exported(output), failed=self._export_failed
        )
        self._tell()

    # -- on the GUI thread, when something comes back ----------------------------------------------

    def _refuse_while_busy(self) -> bool:
        if self.busy:
            self.refused.emit(
                InvalidInput(f"wait for {self._name}, which is in work, or cancel it first")
            )
        return self.busy

    def _become(self, stage: Stage, error: Exception | None = None) -> None:
        self.stage = stage
        self.error = error
        self._tell()

    def _tell(self) -> None:
        if self.busy != self._busy:
            self._busy = self.busy
            self.busy_changed.emit(self._busy)
        self.changed.emit()

    def _begin_opening(self, name: str) -> None:
        self._before = (self.stage, self._name, self.error)
        self._name = name
        self._become(Stage.OPENING)

    def _begin(self, work: Callable[[Task], Progress]) -> None:
        self._samples.clear()
        self.phase = ""
        self._become(Stage.RUNNING)
        self._run(work, self._ran)

    def _run(
        self,
        work: Callable[[Task], object],
        succeeded: Callable[..., None],
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        self._stop = threading.Event()
        self._task = self.session.background.run(
            work, succeeded=succeeded, failed=failed or self._failed
        )

    def _end(self, then: Stage) -> None:
        if self.stage not in AT_WORK:
            return
        self._after_stop = then
        self.stage = Stage.PAUSING
        self._stop.set()
        if (client := self._connection) is not None:
            self._connection = None
            self.session.background.run(lambda task: client.close())
        self._tell()

    def _opened(self, preview: Preview) -> None:
        if self._stop.is_set():
            self._not_opened(Cancelled())
            return
        self.preview, self.work = preview, None
        self._become(Stage.CHOSEN)

    def _not_opened(self, error: Exception) -> None:
        """Back to the file from before, under its own name: its rows are not the other file's."""
        self._task = None
        stage, self._name, before = self._before
        if isinstance(error, Cancelled):
            self._become(stage, before)
        elif stage in (Stage.EMPTY, Stage.CHOSEN):
            self._become(stage, error)
        else:
            self._become(stage, before)
            self.refused.emit(error)

    def _looked_again(self, preview: Preview) -> None:
        if self.stage is Stage.CHOSEN:
            self.preview = preview
            self._tell()

    def _reopened(self, found: tuple[WorkFile, Counts]) -> None:
        self.work, counts = found
        self.preview = None
        self.done, self.total, self.errors = counts.answered, counts.total, counts.failed
        finished = counts.answered == counts.total
        self._become(Stage.FINISHED if finished else Stage.CANCELLED)

    @Slot(object)
    def _show_work(self, work: WorkFile) -> None:
        self.work = work
        if self.stage is Stage.PAUSING and self._after_stop is Stage.CHOSEN:
            self._after_stop = Stage.CANCELLED  # the click came while the rows were being kept
        self._tell()

    @Slot(object, object)
    def _show_report(self, task: Task, report: _Report) -> None:
        if report.phase == "exporting":
            if task is self.exporting:
                self.export_done = report.done
                self.progressed.emit()
            return
        if task is not self._task or self.stage not in AT_WORK:
            return
        phase, self.phase = self.phase, report.phase
        self.done, self.total, self.errors = report.done, report.total, report.errors
        now = time.monotonic()
        if report.phase == "parsing":
            self._samples.append((now, report.done))
            while now - self._samples[0][0] > _RATE_S and len(self._samples) > 2:
                self._samples.popleft()
        else:
            self._samples.clear()
        (self.progressed if phase == report.phase else self.changed).emit()

    def _ran(self, progress: Progress) -> None:
        self.done, self.total, self.errors = progress.done, progress.total, progress.errors
        self._task = None
        if progress.done < progress.total:
            self._become(self._after_stop)
            return
        self._become(Stage.FINISHED)
        work = self.work
        assert work is not None

        def tell(counts: Counts) -> None:
            told = FileFinished(
                work.about.name, counts.total, counts.check, counts.failed, progress.seconds
            )
            self.finished.emit(told)

        self.session.background.run(lambda task: work.counts(), succeeded=tell)

    def _failed(self, error: Exception) -> None:
        self._task = None
        # gRPC says with a ValueError that its connection was closed.
        ended = self._stop.is_set() and isinstance(error, ServerUnavailable | ValueError)
        if isinstance(error, Cancelled) or ended:
            self._become(self._after_stop)
        elif self.work is not None:
            self._become(Stage.FAILED, error)
        else:
            self._become(Stage.CHOSEN if self.preview is not None else Stage.EMPTY, error)

    def _exported(self, output: Path) -> None:
        self.exporting = None
        self._tell()
        self.exported.emit(output)

    def _export_failed(self, error: Exception) -> None:
        self.exporting = None
        self._tell()
        self.refused.emit(error)

    # -- on workers --------------------------------------------------------------------------------

    def _stopper(self, task: Task) -> Callable[[], bool]:
        """For the work that is begun now: whether to stop."""
        stop = self._stop
        return lambda: stop.is_set() or task.cancelled

    def _parse(self, task: Task, work: WorkFile) -> Progress:
        stop = self._stopper(task)
        told = 0.0
        latest = _Report("parsing", 0, work.about.total)

        def tell(progress: Progress) -> None:
            nonlocal told, latest
            latest = _Report("parsing", progress.done, progress.total, progress.errors)
            if time.monotonic() - told > _REPORT_S:
                told = time.monotonic()
                self._reported.emit(task, latest)

        def connect(error: ServerUnavailable | None, pause: float) -> AddressClient:
            if error is not None or not self.session.serves(MODEL):
                self._reported.emit(
                    task, _Report("waiting", latest.done, latest.total, latest.errors)
                )
            # The death of a server is noticed by its requests first.
            end = time.monotonic() + pause
            while time.monotonic() < end and not stop():
                time.sleep(0.05)
            client = self.session.open_client(MODEL, stop)
            # Ends what waits for an answer that does not come.
            task.on_cancel(client.close)
            self._connection = client
            return client

        return work_run.run(work, connect, tell, stop)


def _look(table: Table) -> Preview:
    try:
        guess: int | None = table.column()
    except InvalidInput:
        guess = None
    rows = [[plain(cell) for cell in row] for row in islice(table.rows(), _PREVIEW_ROWS)]
    return Preview(table, table.path.stat().st_size, guess, rows, None, None)
