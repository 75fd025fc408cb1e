"""Where a file of addresses comes from: dropped, chosen, the sample, or begun before."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QDateTime, QEvent, QLocale, Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop import paths
from desktop.addresses.workfile import Counts, WorkFile
from desktop.ui import theme
from desktop.ui.address_file_words import outcome_words, rows_words
from desktop.ui.controls import label, primary_button
from desktop.ui.icons import icon
from desktop.ui.session import ServerSession
from desktop.ui.status_bar import ElidedLabel

SAMPLE = paths.resources_dir() / "samples" / "addresses.csv"


class DropZone(QFrame):
    """A dashed field; the page around it takes what is dropped."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("drop")
        self.picture = QLabel(self)
        self.title = label(self, "cardTitle")
        self.hint = label(self, "small", wrap=True)
        self.open_button = primary_button(self)
        self.sample_button = QPushButton(self)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addStretch(1)
        buttons.addWidget(self.open_button)
        buttons.addWidget(self.sample_button)
        buttons.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(24, 32, 24, 32)
        box.setSpacing(8)
        for widget in (self.picture, self.title, self.hint):
            widget.setAlignment(Qt.AlignmentFlag.AlignCenter)
            box.addWidget(widget)
        box.addSpacing(8)
        box.addLayout(buttons)
        self._over = False
        self.retranslate()
        self._tint()

    def show_over(self, over: bool) -> None:
        """Whether a file is held above the page."""
        self._over = over
        self.update()

    def retranslate(self) -> None:
        self.title.setText(self.tr("Drop a file here"))
        self.hint.setText(
            self.tr(
                "CSV, TSV, TXT or XLSX, in UTF-8 or GBK. It is read here and goes nowhere else."
            )
        )
        self.open_button.setText(self.tr("Choose a file…"))
        self.sample_button.setText(self.tr("Try the sample file"))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        elif event.type() == QEvent.Type.PaletteChange:
            self._tint()

    def _tint(self) -> None:
        self.picture.setPixmap(icon("file", theme.current().color("text_3"), 40).pixmap(40, 40))

    def paintEvent(self, event: QPaintEvent) -> None:
        look = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(look.color("accent" if self._over else "text_3"), 2 if self._over else 1)
        pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(look.color("accent_soft" if self._over else "surface"))
        radius = theme.radius("card")
        painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), radius, radius)
        painter.end()


class EarlierRow(QFrame):
    """A file in the list, with what can be done with it."""

    def __init__(self, work: WorkFile, counts: Counts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.work = work
        self.counts = counts
        self.name = ElidedLabel(self)
        self.state = ElidedLabel(self)
        self.state.setObjectName("small")
        self.open_button = QPushButton(self)
        self.remove_button = QPushButton(self)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self.name)
        words.addWidget(self.state)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 4)
        row.setSpacing(8)
        row.addLayout(words, 1)
        row.addWidget(self.open_button)
        row.addWidget(self.remove_button)
        self.retranslate()

    @property
    def unfinished(self) -> bool:
        return self.counts.answered < self.counts.total

    def retranslate(self) -> None:
        about = self.work.about
        self.name.show_text(about.name)
        day = QDateTime.fromSecsSinceEpoch(int(about.created))
        when = QLocale().toString(day, QLocale.FormatType.ShortFormat)
        if self.unfinished:
            done = rows_words(self.counts.answered, self.counts.total)
            state = self.tr("not finished: {0}").format(done)
        else:
            state = outcome_words(self.counts)
        self.state.show_text(f"{when} · {state}")
        self.open_button.setText(self.tr("Continue") if self.unfinished else self.tr("Open"))
        self.remove_button.setText(self.tr("Remove"))
        for button in (self.open_button, self.remove_button):
            button.setAccessibleName(f"{button.text()}: {about.name}")


class FileStart(QWidget):
    file_asked = Signal()
    opened = Signal(object)
    #: Earlier work was chosen: the :class:`WorkFile`, and whether to go on with it.
    reopened = Signal(object, bool)

    def __init__(self, session: ServerSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.drop = DropZone(self)
        self.error = label(self, "error", wrap=True)
        self.error.hide()
        self.earlier = QFrame(self)
        self.earlier.setObjectName("card")
        self.earlier_title = label(self.earlier, "cardTitle")
        self._list = QVBoxLayout(self.earlier)
        self._list.setContentsMargins(16, 16, 16, 12)
        self._list.setSpacing(4)
        self._list.addWidget(self.earlier_title)
        self.earlier.hide()
        self.rows: list[EarlierRow] = []
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 16, 20, 24)
        box.setSpacing(16)
        box.addWidget(self.drop)
        box.addWidget(self.error)
        box.addWidget(self.earlier)
        box.addStretch(1)
        self.drop.open_button.clicked.connect(self.file_asked)
        self.drop.sample_button.clicked.connect(self._try_sample)
        self.retranslate()

    def refresh(self) -> None:
        """Look which files were in work before."""
        self._session.background.run(
            lambda task: [(work, work.counts()) for work in WorkFile.all()],
            succeeded=self._show_earlier,
        )

    def _show_earlier(self, found: list[tuple[WorkFile, Counts]]) -> None:
        for row in self.rows:
            self._list.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = [EarlierRow(work, counts, self.earlier) for work, counts in found]
        for row in self.rows:
            row.open_button.clicked.connect(self._open_earlier)
            row.remove_button.clicked.connect(self._ask_to_remove)
            self._list.addWidget(row)
        self.earlier.setVisible(bool(self.rows))

    def say(self, words: str) -> None:
        self.error.setText(words)
        self.error.setVisible(bool(words))

    def retranslate(self) -> None:
        self.earlier_title.setText(self.tr("Files worked on before"))
        for row in self.rows:
            row.retranslate()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()

    def _row_of(self, button: object) -> EarlierRow:
        return next(row for row in self.rows if button in (row.open_button, row.remove_button))

    @Slot()
    def _open_earlier(self) -> None:
        row = self._row_of(self.sender())
        self.reopened.emit(row.work, row.unfinished)

    @Slot()
    def _ask_to_remove(self) -> None:
        row = self._row_of(self.sender())
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle(self.tr("Remove"))
        box.setText(
            self.tr("Remove the results and corrections of {0}?").format(row.work.about.name)
        )
        box.setInformativeText(self.tr("The file itself and what was exported stay."))
        remove = box.addButton(self.tr("Remove"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        remove.clicked.connect(lambda: self.remove(row.work))
        box.open()

    def remove(self, work: WorkFile) -> None:
        self._session.background.run(lambda task: work.remove(), succeeded=lambda _: self.refresh())

    @Slot()
    def _try_sample(self) -> None:
        self.opened.emit(Path(SAMPLE))
