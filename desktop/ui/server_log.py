"""What the server has printed: bounded, searchable, by level, following its end."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from PySide6.QtCore import QEvent, QTimer, Slot
from PySide6.QtGui import (
    QFont,
    QGuiApplication,
    QHideEvent,
    QShowEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextDocument,
)
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop import paths
from desktop.launchers.log_reader import Level, LogLine, LogReader, level_of
from desktop.ui import theme
from desktop.ui.controls import label
from desktop.ui.session import ServerSession
from desktop.ui.shortcuts import bind
from desktop.ui.tasks import Task
from desktop.ui.words import error_words

#: As many lines are kept and shown, the newest.
MOST = 5000
_INTERVAL_MS = 500
_SEARCH_MS = 150


class _Colours(QSyntaxHighlighter):
    """Warnings and errors in their colours, what is searched for marked."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.wanted = ""

    def highlightBlock(self, text: str) -> None:
        before = Level(max(0, self.previousBlockState()))
        level = level_of(text, before)
        self.setCurrentBlockState(int(level))
        look = theme.current()
        if level is not Level.INFO:
            shown = QTextCharFormat()
            shown.setForeground(look.color("danger" if level is Level.ERROR else "warn"))
            self.setFormat(0, len(text), shown)
        if not self.wanted:
            return
        mark = QTextCharFormat()
        mark.setBackground(look.color("accent_soft"))
        mark.setForeground(look.color("text"))
        mark.setFontWeight(QFont.Weight.DemiBold)
        low, wanted = text.lower(), self.wanted.lower()
        at = low.find(wanted)
        while at >= 0:
            self.setFormat(at, len(wanted), mark)
            at = low.find(wanted, at + len(wanted))


class LogView(QFrame):
    """Reads the log of this user's server while it is visible."""

    def __init__(
        self, session: ServerSession, parent: QWidget | None = None, path: Path | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._session = session
        self._reader = LogReader(path or paths.log_dir() / "server.log", MOST)
        self._task: Task | None = None
        self._lines: deque[LogLine] = deque(maxlen=MOST)
        self._problem: Exception | None = None
        self._following = True
        self.title = label(self, "cardTitle")
        self.count = label(self, "small")
        self.search = QLineEdit(self)
        self.search.setObjectName("search")
        self.search.setClearButtonEnabled(True)
        self.level = QComboBox(self)
        self.level.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for level in Level:
            self.level.addItem("", level)
        self.follow = QCheckBox(self)
        self.follow.setChecked(True)
        self.copy_button = QPushButton(self)
        self.text = QPlainTextEdit(self)
        self.text.setObjectName("log")
        self.text.setReadOnly(True)
        self.text.setUndoRedoEnabled(False)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setMaximumBlockCount(MOST)
        self.text.setTabChangesFocus(True)
        self._colours = _Colours(self.text.document())
        self._lay_out()
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.look)
        self._typing = QTimer(self, singleShot=True, interval=_SEARCH_MS)
        self._typing.timeout.connect(self.refill)
        self.search.textChanged.connect(self._typed)
        self.search.returnPressed.connect(self.refill)
        self.level.currentIndexChanged.connect(self.refill)
        self.follow.toggled.connect(self._follow_toggled)
        self.copy_button.clicked.connect(self.copy)
        bar = self.text.verticalScrollBar()
        bar.actionTriggered.connect(lambda: QTimer.singleShot(0, self, self._scrolled))
        self.text.viewport().installEventFilter(self)
        bind(self, {"search_log": self.search.setFocus})
        self.setFocusProxy(self.search)
        self.retranslate()

    def _lay_out(self) -> None:
        tools = QHBoxLayout()
        tools.setSpacing(8)
        tools.addWidget(self.search, 1)
        tools.addWidget(self.level)
        tools.addWidget(self.follow)
        tools.addWidget(self.copy_button)
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(self.count)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 12, 16, 16)
        box.setSpacing(10)
        box.addLayout(head)
        box.addLayout(tools)
        box.addWidget(self.text, 1)

    def retranslate(self) -> None:
        self.title.setText(self.tr("Log"))
        self.search.setPlaceholderText(self.tr("Search the log"))
        self.search.setAccessibleName(self.tr("Search the log"))
        names = (self.tr("All lines"), self.tr("Warnings and errors"), self.tr("Errors only"))
        for number, name in enumerate(names):
            self.level.setItemText(number, name)
        self.level.setAccessibleName(self.tr("Which lines"))
        self.follow.setText(self.tr("Follow"))
        self.follow.setToolTip(self.tr("Stay at the end as lines arrive"))
        self.copy_button.setText(self.tr("Copy"))
        self.copy_button.setToolTip(self.tr("The selected text, else all lines shown"))
        self.text.setAccessibleName(self.tr("Log"))
        self._count()

    # -- reading ------------------------------------------------------------------------------

    @Slot()
    def look(self) -> None:
        """Read what is new, in the background, unless that is under way."""
        if self._task is not None:
            return

        def arrived(lines: list[LogLine]) -> None:
            self._task = self._problem = None
            self._take(lines)

        def failed(error: Exception) -> None:
            self._task, self._problem = None, error
            self._count()

        self._task = self._session.background.run(
            lambda task: self._reader.read(), succeeded=arrived, failed=failed
        )

    def lines(self) -> list[LogLine]:
        """All lines that are kept."""
        return list(self._lines)

    def shown(self) -> list[str]:
        text = self.text.toPlainText()
        return text.split("\n") if text else []

    def _take(self, lines: list[LogLine]) -> None:
        if not lines:
            self._count()
            return
        self._lines.extend(lines)
        wanted = [line.text for line in lines if self._wanted(line)]
        if wanted:
            bar = self.text.verticalScrollBar()
            at = bar.value()
            self.text.appendPlainText("\n".join(wanted))
            bar.setValue(bar.maximum() if self._following else at)
        self._count()

    def _wanted(self, line: LogLine) -> bool:
        if line.level < self.level.currentData():
            return False
        return self.search.text().strip().lower() in line.text.lower()

    @Slot(str)
    def _typed(self, text: str) -> None:
        self._typing.start()

    @Slot()
    def refill(self) -> None:
        """Show the lines that are wanted now."""
        self._typing.stop()
        self._colours.wanted = self.search.text().strip()
        self.text.setPlainText("\n".join(line.text for line in self._lines if self._wanted(line)))
        if self._following:
            self._to_the_end()
        self._count()

    def _count(self) -> None:
        if self._problem is not None:
            self.count.setText(error_words(self._problem))
            return
        if self._session.status.launcher == "remote":
            placeholder = self.tr("The log of a remote server is with whoever runs it.")
        elif self._lines:
            placeholder = self.tr("No line is like that.")
        else:
            placeholder = self.tr("No server has printed anything yet.")
        self.text.setPlaceholderText(placeholder)
        if not self._lines:
            self.count.setText("")
            return
        shown = self.text.blockCount() if self.text.document().characterCount() > 1 else 0
        total = len(self._lines)
        if shown == total:
            self.count.setText(self.tr("%n line(s)", "", total))
        else:
            self.count.setText(self.tr("{0} of %n line(s)", "", total).format(shown))

    # -- its end ------------------------------------------------------------------------------

    def _to_the_end(self) -> None:
        bar = self.text.verticalScrollBar()
        bar.setValue(bar.maximum())

    @Slot(bool)
    def _follow_toggled(self, follow: bool) -> None:
        self._following = follow
        if follow:
            self._to_the_end()

    @Slot()
    def _scrolled(self) -> None:
        """Who scrolls up wants to read; who returns to the end wants to follow."""
        bar = self.text.verticalScrollBar()
        self.follow.setChecked(bar.value() >= bar.maximum() - 1)

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel:
            QTimer.singleShot(0, self, self._scrolled)
        return False

    @Slot()
    def copy(self) -> None:
        selected = self.text.textCursor().selectedText().replace("\u2029", "\n")
        QGuiApplication.clipboard().setText(selected or self.text.toPlainText())

    # -- being seen ---------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        self._timer.start()
        self.look()

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        elif event.type() == QEvent.Type.PaletteChange:
            self._colours.rehighlight()
