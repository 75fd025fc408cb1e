"""The line at the foot of the window: the server's state in colour, shape and words, and why."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from desktop.launchers.base import ServerState, ServerStatus
from desktop.ui import theme
from desktop.ui.words import message_words, reason_words, status_words

_STEPS = 1000


class StateDot(QWidget):
    """Full: ready. Ring: on its way. Triangle: degraded. Square: stopped or failed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state = ServerState.STARTING
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(theme.px(12), theme.px(12))

    def show_state(self, state: ServerState) -> None:
        self.state = state
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        look = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        painter.setPen(Qt.PenStyle.NoPen)
        if self.state is ServerState.READY:
            painter.setBrush(look.color("ok"))
            painter.drawEllipse(area)
        elif self.state in (ServerState.STARTING, ServerState.STOPPING):
            painter.setPen(QPen(look.color("warn"), 2))
            painter.drawEllipse(area.adjusted(1, 1, -1, -1))
        elif self.state is ServerState.DEGRADED:
            painter.setBrush(look.color("warn"))
            top = QPointF(area.center().x(), area.top())
            painter.drawPolygon(QPolygonF([top, area.bottomRight(), area.bottomLeft()]))
        else:
            failed = self.state is ServerState.FAILED
            painter.setBrush(look.color("danger" if failed else "text_3"))
            painter.drawRect(area)
        painter.end()


class ElidedLabel(QLabel):
    """A label that gives way: what does not fit is cut with an ellipsis and shown as a tooltip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._full = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def show_text(self, text: str) -> None:
        self._full = text
        self.setToolTip(text)
        self.setAccessibleName(text)
        self._elide()

    def full_text(self) -> str:
        return self._full

    def resizeEvent(self, event: object) -> None:
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._elide()

    def _elide(self) -> None:
        elide = Qt.TextElideMode.ElideRight
        self.setText(self.fontMetrics().elidedText(self._full, elide, self.width()))


def show_share(bar: QProgressBar, status: ServerStatus) -> None:
    """Set a bar to how far the server's image is; hidden where nobody can know."""
    share = status.progress.share() if status.progress else None
    bar.setVisible(share is not None)
    bar.setRange(0, _STEPS)
    bar.setValue(round((share or 0.0) * _STEPS))
    bar.setAccessibleName(message_words(status))


class StatusBar(QFrame):
    """``cancelled``: the image that is being made is not wanted."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("statusBar")
        theme.fit(self, height=32)
        self.dot = StateDot(self)
        self.words = ElidedLabel(self)
        self.reason = ElidedLabel(self)
        self.reason.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setFixedSize(120, 8)
        self.cancel_button = QPushButton(self)
        self.cancel_button.setObjectName("slim")
        self.cancel_button.clicked.connect(self.cancelled)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(8)
        row.addWidget(self.dot)
        row.addWidget(self.bar)
        row.addWidget(self.words, 1)
        row.addWidget(self.cancel_button)
        row.addWidget(self.reason, 1)
        self._status = ServerStatus("", "", ServerState.STARTING)
        self.show_status(self._status)

    @Slot(object)
    def show_status(self, status: ServerStatus) -> None:
        self._status = status
        self.dot.show_state(status.state)
        show_share(self.bar, status)
        self.cancel_button.setText(self.tr("Cancel"))
        self.cancel_button.setVisible(status.progress is not None)
        self.words.show_text(status_words(status))
        self.reason.show_text(reason_words(status))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.show_status(self._status)
