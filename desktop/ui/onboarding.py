"""The introduction: three short steps on the first start, and whenever it is asked for again."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from desktop.triton.types import Division, Entity, ParsedAddress
from desktop.ui import theme
from desktop.ui.address_highlight import AddressHighlight
from desktop.ui.controls import frame, label, primary_button
from desktop.ui.legend import ProbabilityLegend
from desktop.ui.theme import RESOURCES

#: What a person may try first.
SAMPLE_MESSAGE = "今天好累啊"
SAMPLE_FILE: Path = RESOURCES / "samples" / "addresses.csv"

# Pictures of what the pages look like, not answers of the models.
_REPLY = (
    ("辛", 0.95),
    ("苦", 0.98),
    ("了", 0.93),
    ("，", 0.95),
    ("今", 0.45),
    ("晚", 0.75),
    ("泡", 0.12),
    ("个", 0.92),
    ("热", 0.6),
    ("水", 0.95),
    ("脚", 0.4),
    ("，", 0.95),
    ("早", 0.6),
    ("点", 0.95),
    ("休", 0.95),
    ("息", 0.98),
    ("吧", 0.8),
    ("。", 0.95),
)
_ADDRESS = (
    ("city", "杭州市"),
    ("district", "余杭区"),
    ("road", "文一西路"),
    ("roadno", "969号"),
    ("houseno", "3幢"),
)


def _address() -> ParsedAddress:
    text, entities = "", []
    for kind, part in _ADDRESS:
        entities.append(Entity(kind, part, len(text), len(text) + len(part), 1.0))
        text += part
    return ParsedAddress(text, tuple(entities), Division("", "", "", "", "", 0.0), ())


class SampleReply(QWidget):
    """A line of tokens with their tints, as the chat page shows a reply."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("".join(text for text, _ in _REPLY))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(theme.font())
        width = sum(metrics.horizontalAdvance(text) for text, _ in _REPLY)
        return QSize(width + 4, theme.line_height() + 8)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        look, painter = theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font())
        metrics, x = painter.fontMetrics(), 0.0
        for text, probability in _REPLY:
            box = QRectF(x, 2, metrics.horizontalAdvance(text), self.height() - 4)
            if (tint := look.tint(probability)) is not None:
                painter.fillRect(box, tint)
            painter.setPen(look.color("text"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
            if probability < theme.UNDERLINE_BELOW:
                painter.setPen(theme.dotted_pen())
                line = box.bottom() - 2
                painter.drawLine(QPointF(box.left() + 1, line), QPointF(box.right() - 1, line))
            x += box.width()
        painter.end()


class Dots(QWidget):
    """Which step of how many."""

    def __init__(self, count: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._count, self._step = count, 0
        self.setFixedSize(count * 16, 12)

    def show_step(self, step: int) -> None:
        self._step = step
        self.setAccessibleName(self.tr("Step {0} of {1}").format(step + 1, self._count))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        look, painter = theme.current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for number in range(self._count):
            here = number == self._step
            painter.setBrush(look.color("accent" if here else "text_3"))
            # The step is also told by size, not by colour alone.
            radius = 5.0 if here else 3.0
            painter.drawEllipse(QPointF(number * 16 + 8, 6), radius, radius)
        painter.end()


class Onboarding(QDialog):
    message_wanted = Signal()
    file_wanted = Signal()
    #: It was seen to its end or skipped: it need not come by itself again.
    ended = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("onboarding")
        self.setModal(True)
        theme.fit(self, width=560, height=380)
        self.steps = QStackedWidget(self)
        self._titles: list[QLabel] = []
        self._texts: list[QLabel] = []
        reply = QWidget(self)
        row = QVBoxLayout(reply)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(SampleReply(reply))
        row.addWidget(ProbabilityLegend(reply))
        address = AddressHighlight(self)
        address.show_address(_address())
        tries = QWidget(self)
        column = QVBoxLayout(tries)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self.message_button = QPushButton(tries)
        self.file_button = QPushButton(tries)
        for button in (self.message_button, self.file_button):
            theme.fit(button, height=40)
            column.addWidget(button)
        for picture in (reply, address, tries):
            self.steps.addWidget(self._step(picture))
        self.dots = Dots(self.steps.count(), self)
        self.skip_button = QPushButton(self)
        policy = self.skip_button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # the dots stay where they are
        self.skip_button.setSizePolicy(policy)
        self.back_button = QPushButton(self)
        self.next_button = primary_button(self)
        self.next_button.setDefault(True)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.skip_button)
        foot.addStretch(1)
        foot.addWidget(self.dots)
        foot.addStretch(1)
        foot.addWidget(self.back_button)
        foot.addWidget(self.next_button)
        box = QVBoxLayout(self)
        box.setContentsMargins(28, 28, 28, 20)
        box.setSpacing(24)
        box.addWidget(self.steps, 1)
        box.addLayout(foot)
        self.skip_button.clicked.connect(self.reject)
        self.back_button.clicked.connect(self._back)
        self.next_button.clicked.connect(self._next)
        self.message_button.clicked.connect(self._try_message)
        self.file_button.clicked.connect(self._try_file)
        self.finished.connect(self.ended)
        self.retranslate()

    def _step(self, picture: QWidget) -> QWidget:
        step = QWidget(self)
        title, text = label(step, "crumb"), label(step, "", wrap=True)
        card = frame(step, "card")
        inside = QVBoxLayout(card)
        inside.setContentsMargins(16, 16, 16, 16)
        inside.addWidget(picture)
        box = QVBoxLayout(step)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(12)
        box.addWidget(title)
        box.addWidget(text)
        box.addSpacing(4)
        box.addWidget(card)
        box.addStretch(1)
        self._titles.append(title)
        self._texts.append(text)
        return step

    def begin(self) -> None:
        """Show the first step."""
        self.steps.setCurrentIndex(0)
        self._show_step()
        self.open()
        self.next_button.setFocus()

    def retranslate(self) -> None:
        self.setWindowTitle(self.tr("Welcome to Tritalk"))
        native = QKeySequence.SequenceFormat.NativeText
        palette, sheet = (QKeySequence(keys).toString(native) for keys in ("Ctrl+Shift+P", "F1"))
        words = (
            (
                self.tr("Chat, and see how sure the model was"),
                self.tr(
                    "Each token of a reply is tinted: the stronger, the less probable it was. "
                    "Point at a token to see what else could have stood there, and choose it to "
                    "go on from it."
                ),
            ),
            (
                self.tr("Turn addresses into fields"),
                self.tr(
                    "Type one address, or open a table of them: each is taken apart into its "
                    "entities and placed in the official divisions, and what is doubtful is "
                    "marked for you to check."
                ),
            ),
            (
                self.tr("All of it on your own machine"),
                self.tr(
                    "Tritalk runs its own server; nothing you type leaves the machine. The line "
                    "at the foot of the window tells how the server is. Every command is in the "
                    "palette ({0}), every key on one sheet ({1})."
                ).format(palette, sheet),
            ),
        )
        for title, text, (heading, sentence) in zip(self._titles, self._texts, words, strict=True):
            title.setText(heading)
            text.setText(sentence)
        self.message_button.setText(self.tr("Send a sample message: {0}").format(SAMPLE_MESSAGE))
        self.file_button.setText(self.tr("Open a sample file of addresses"))
        self.skip_button.setText(self.tr("Skip"))
        self.back_button.setText(self.tr("Back"))
        self._show_step()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()

    def _show_step(self) -> None:
        step, last = self.steps.currentIndex(), self.steps.count() - 1
        self.dots.show_step(step)
        self.back_button.setEnabled(step > 0)
        self.skip_button.setVisible(step < last)
        self.next_button.setText(self.tr("Next") if step < last else self.tr("Begin"))
        self.file_button.setVisible(SAMPLE_FILE.exists())

    @Slot()
    def _back(self) -> None:
        self.steps.setCurrentIndex(self.steps.currentIndex() - 1)
        self._show_step()

    @Slot()
    def _next(self) -> None:
        if self.steps.currentIndex() == self.steps.count() - 1:
            self.accept()
            return
        self.steps.setCurrentIndex(self.steps.currentIndex() + 1)
        self._show_step()

    @Slot()
    def _try_message(self) -> None:
        self.accept()
        self.message_wanted.emit()

    @Slot()
    def _try_file(self) -> None:
        self.accept()
        self.file_wanted.emit()
