"""Live charts of a server's metrics, in as many columns as there is room for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QSize, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from desktop.triton import metrics
from desktop.triton.metrics import Figures, Snapshot
from desktop.triton.types import Endpoint
from desktop.ui import theme
from desktop.ui.controls import label
from desktop.ui.line_chart import LineChart, Point, line_pen
from desktop.ui.session import SERVING, ServerSession
from desktop.ui.tasks import Task

_INTERVAL_MS = 1000
# Figures over a longer time than this would be means of a past that nobody looked at.
_LONGEST = 4.0
_COLUMN = 260


class MetricsPoller(QObject):
    """Looks at the metrics once a second between :meth:`start` and :meth:`stop`, never twice at
    once, and not while the window is minimised."""

    arrived = Signal(object)
    failed = Signal(object)

    def __init__(self, session: ServerSession, watched: QWidget) -> None:
        super().__init__(watched)
        self._session = session
        self._watched = watched
        self._before: tuple[Endpoint, Snapshot] | None = None
        self._task: Task | None = None
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.look)

    @property
    def looking(self) -> bool:
        return self._timer.isActive()

    def start(self) -> None:
        self._timer.start()
        self.look()

    def stop(self) -> None:
        self._timer.stop()
        self._before = None
        if self._task is not None:
            self._session.background.cancel(self._task)
            self._task = None

    @Slot()
    def look(self) -> None:
        status = self._session.status
        serving = status.state in SERVING
        if self._task is not None or not serving or self._watched.window().isMinimized():
            return
        endpoint = status.endpoint

        def arrived(snapshot: Snapshot) -> None:
            self._task = None
            before, self._before = self._before, (endpoint, snapshot)
            if before is None or before[0] != endpoint:
                return
            if snapshot.at - before[1].at <= _LONGEST:
                self.arrived.emit(metrics.compare(before[1], snapshot))

        def failed(error: Exception) -> None:
            self._task = self._before = None
            self.failed.emit(error)

        self._task = self._session.background.run(
            lambda task: metrics.fetch(endpoint), succeeded=arrived, failed=failed
        )


class Swatch(QWidget):
    """A piece of a chart's line, beside the line's name."""

    def __init__(self, number: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._number = number
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(16, 12)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(line_pen(self._number, 2))
        painter.drawLine(0, self.height() // 2, self.width(), self.height() // 2)
        painter.end()


class ChartCard(QFrame):
    """A chart with its name above, and the newest value of each line."""

    def __init__(
        self,
        lines: int,
        say: Callable[[float], str],
        when: Callable[[float], str],
        least: float,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._say = say
        self.title = label(self, "small")
        self.chart = LineChart(say, when, least, self)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.title)
        head.addStretch(1)
        self._names: list[QLabel] = []
        self._values: list[QLabel] = []
        legend = QHBoxLayout()
        legend.setSpacing(6)
        for number in range(lines):
            swatch = Swatch(number, self)
            name = label(self, "small")
            value = label(self, "chartValue")
            for widget in (swatch, name):
                widget.setVisible(lines > 1)
                legend.addWidget(widget)
            (legend if lines > 1 else head).addWidget(value)
            if lines > 1:
                legend.addSpacing(10)
            self._names.append(name)
            self._values.append(value)
        legend.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(12, 10, 12, 8)
        box.setSpacing(4)
        box.addLayout(head)
        if lines > 1:
            box.addLayout(legend)
        box.addWidget(self.chart, 1)
        theme.fit(self, min_height=156)

    def show_words(self, title: str, names: Sequence[str], empty: str) -> None:
        self.title.setText(title)
        for shown, name in zip(self._names, names, strict=True):
            shown.setText(name)
        self.chart.show_names(names if len(names) > 1 else ("",), empty)
        self._describe()

    def add(self, point: Point, ceiling: float | None) -> None:
        self.chart.add(point, ceiling)
        for shown, value in zip(self._values, point.values, strict=True):
            shown.setText("–" if value is None else self._say(value))
        self._describe()

    def clear(self) -> None:
        self.chart.clear()
        for shown in self._values:
            shown.setText("")
        self._describe()

    def values(self) -> list[str]:
        """The newest values as shown."""
        return [shown.text() for shown in self._values]

    def _describe(self) -> None:
        self.setAccessibleName(self.title.text())
        told = zip((n.text() for n in self._names), self.values(), strict=True)
        self.setAccessibleDescription(", ".join(f"{n} {v}".strip() for n, v in told if v))


@dataclass(frozen=True)
class Kind:
    """One chart: what its lines are of the figures, and the top of its scale where it is known."""

    lines: Callable[[Figures], tuple[float | None, ...]]
    say: Callable[[float], str]
    least: float = 1.0
    ceiling: Callable[[Figures], float | None] = lambda figures: None


def say_number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.1f}"


def say_percent(value: float) -> str:
    return f"{value:.0%}"


def say_bytes(value: float) -> str:
    return f"{value / 1e9:,.1f} GB"


def say_milliseconds(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 100 else f"{value:,.1f} ms"


KINDS: dict[str, Kind] = {
    "requests": Kind(lambda f: (f.replies, f.addresses), say_number),
    "tokens": Kind(lambda f: (f.tokens,), say_number, 10.0),
    "batch": Kind(lambda f: (f.chat_batch, f.address_batch), say_number, 2.0),
    "queue": Kind(lambda f: (f.chat_queue, f.address_queue), say_milliseconds),
    "cpu": Kind(lambda f: (f.cpu,), say_percent, 1.0, lambda f: 1.0),
    "memory": Kind(lambda f: (f.memory_used,), say_bytes, 1e9, lambda f: f.memory_total),
}


def gpu_kinds(uuids: Sequence[str]) -> dict[str, Kind]:
    """Use and memory of the GPUs that the server sees, a line each."""

    def use(figures: Figures) -> tuple[float | None, ...]:
        return tuple(figures.gpus[u].use if u in figures.gpus else None for u in uuids)

    def memory(figures: Figures) -> tuple[float | None, ...]:
        return tuple(figures.gpus[u].memory_used if u in figures.gpus else None for u in uuids)

    def room(figures: Figures) -> float | None:
        return max((g.memory_total for g in figures.gpus.values() if g.memory_total), default=None)

    return {
        "gpu": Kind(use, say_percent, 1.0, lambda f: 1.0),
        "gpu_memory": Kind(memory, say_bytes, 1e9, room),
    }


class ChartsPanel(QWidget):
    """All charts. Looks at the metrics while it is visible, and only then."""

    def __init__(self, session: ServerSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._gpus: tuple[str, ...] = ()
        self._columns = 0
        self._empty: Callable[[], str] = self._waiting
        self.kinds = dict(KINDS)
        self.cards: dict[str, ChartCard] = {}
        self.poller = MetricsPoller(session, self)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)
        for name in KINDS:
            self._make(name, 2 if name in ("requests", "batch", "queue") else 1)
        self.poller.arrived.connect(self.add)
        self.poller.failed.connect(self._fail)
        self.retranslate()

    def _make(self, name: str, lines: int) -> None:
        kind = self.kinds[name]
        self.cards[name] = ChartCard(lines, kind.say, self._when, kind.least, self)
        self._columns = 0

    @Slot(object)
    def add(self, figures: Figures) -> None:
        self._empty = self._nothing
        self._see_gpus(figures)
        for name, kind in self.kinds.items():
            self.cards[name].add(Point(figures.at, kind.lines(figures)), kind.ceiling(figures))

    def clear(self) -> None:
        """Forget the past: it was another server's."""
        self._empty = self._waiting
        for card in self.cards.values():
            card.clear()
        self.retranslate()

    def _see_gpus(self, figures: Figures) -> None:
        """Charts for the GPUs that have come into sight, or none where they went."""
        uuids = tuple(figures.gpus)
        if uuids == self._gpus:
            return
        self._gpus = uuids
        for name in ("gpu", "gpu_memory"):
            self.kinds.pop(name, None)
            if card := self.cards.pop(name, None):
                card.deleteLater()
        if uuids:
            self.kinds |= gpu_kinds(uuids)
            for name in ("gpu", "gpu_memory"):
                self._make(name, len(uuids))
        self._columns = 0
        self.retranslate()
        self._arrange()

    @Slot(object)
    def _fail(self, error: Exception) -> None:
        self._empty = self._silent
        self.retranslate()

    # -- words --------------------------------------------------------------------------------

    def _waiting(self) -> str:
        return self.tr("waiting for the first figures")

    def _nothing(self) -> str:
        return self.tr("nothing yet")

    def _silent(self) -> str:
        return self.tr("this server tells no metrics")

    def _when(self, seconds: float) -> str:
        if seconds < 1:
            return self.tr("now")
        if seconds < 60:
            return self.tr("{0} s ago").format(round(seconds))
        return self.tr("{0} min ago").format(round(seconds / 60))

    def retranslate(self) -> None:
        chat, addresses = self.tr("Chat"), self.tr("Addresses")
        gpus = [self.tr("GPU {0}").format(number) for number in range(len(self._gpus))]
        words: dict[str, tuple[str, list[str]]] = {
            "requests": (self.tr("Requests per second"), [chat, addresses]),
            "tokens": (self.tr("Tokens per second"), [chat]),
            "batch": (self.tr("Batch size"), [chat, addresses]),
            "queue": (self.tr("Time in the queue"), [chat, addresses]),
            "cpu": (self.tr("CPU of the machine"), [""]),
            "memory": (self.tr("Memory of the machine"), [""]),
            "gpu": (self.tr("GPU"), gpus),
            "gpu_memory": (self.tr("GPU memory"), gpus),
        }
        for name, card in self.cards.items():
            card.show_words(*words[name], self._empty())
        self._arrange()

    # -- room ---------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()

    def _arrange(self) -> None:
        columns = max(1, min(3, (self.width() + 12) // (theme.px(_COLUMN) + 12)))
        if columns == self._columns:
            return
        for column in range(3):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        for place, name in enumerate(self.kinds):
            self._grid.addWidget(self.cards[name], place // columns, place % columns)
        self._columns = columns

    def showEvent(self, event: QShowEvent) -> None:
        self.poller.start()

    def hideEvent(self, event: QHideEvent) -> None:
        self.poller.stop()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
