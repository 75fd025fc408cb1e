"""The address page: one address, or a file of them, which goes on in the background."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, Slot
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
)
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from desktop import paths
from desktop.addresses.workfile import Counts, WorkFile
from desktop.triton.types import ParsedAddress
from desktop.ui import theme
from desktop.ui.address_file_job import FileJob
from desktop.ui.address_file_page import FilePage
from desktop.ui.address_file_words import rows_words
from desktop.ui.address_single import SingleAddress
from desktop.ui.controls import fit_segments, frame, label
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.session import ServerSession
from desktop.ui.shortcuts import bind
from desktop.ui.words import error_words

_SINGLE, _FILE = 0, 1
_PASTED = "pasted_addresses.txt"


class AddressPage(QWidget):
    """``job`` is the file in work, whichever page is shown: see its ``busy``, ``busy_changed`` and
    ``finished``."""

    def __init__(self, session: ServerSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAcceptDrops(True)
        self._session = session
        self._unfinished: WorkFile | None = None
        self.job = FileJob(session, self)
        self.single = SingleAddress(session, self)
        self.file = FilePage(self.job, self)
        self.notice = NoticeBar(self)
        self.modes = QStackedWidget(self)
        self.modes.addWidget(self.single)
        self.modes.addWidget(self.file)
        # Without a notice its place takes no room.
        self.above = QWidget(self)
        above = QHBoxLayout(self.above)
        above.setContentsMargins(20, 16, 20, 0)
        above.addWidget(self.notice)
        self.above.hide()
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self._make_header())
        page.addWidget(self.above)
        page.addWidget(self.modes, 1)
        self.paste_button.clicked.connect(self._paste)
        self.open_button.clicked.connect(self._choose_file)
        self._group.idClicked.connect(self.show_mode)
        self.single.list_pasted.connect(self._open_pasted)
        self.file.wanted.connect(self._show_file)
        self.notice.acted.connect(self._resume)
        self.notice.closed.connect(self.above.hide)
        self.job.refused.connect(self._refused)
        self.job.changed.connect(self._job_changed)
        bind(self, {"open_file": self._choose_file})
        self.retranslate()
        self.show_mode(_SINGLE)
        session.background.run(lambda task: _unfinished(), succeeded=self._offer)

    def _make_header(self) -> QFrame:
        header = frame(self, "header")
        theme.fit(header, height=52)
        self.title = label(header, "pageTitle")
        self.mode_buttons = [QPushButton(header) for _ in range(2)]
        self.paste_button = QPushButton(header)
        self.open_button = QPushButton(header)
        self._group = QButtonGroup(self)
        segments = QHBoxLayout()
        segments.setSpacing(0)
        for number, button in enumerate(self.mode_buttons):
            button.setCheckable(True)
            button.setObjectName("segment")
            button.setProperty("place", ("first", "last")[number])
            self._group.addButton(button, number)
            segments.addWidget(button)
        row = QHBoxLayout(header)
        row.setContentsMargins(20, 0, 20, 0)
        row.setSpacing(8)
        row.addWidget(self.title)
        row.addSpacing(8)
        row.addLayout(segments)
        row.addStretch(1)
        row.addWidget(self.paste_button)
        row.addWidget(self.open_button)
        return header

    def retranslate(self) -> None:
        self.title.setText(self.tr("Addresses"))
        for button, words in zip(
            self.mode_buttons, (self.tr("One address"), self.tr("A file")), strict=True
        ):
            button.setText(words)
        fit_segments(self.mode_buttons)
        self.paste_button.setText(self.tr("Paste and parse"))
        self.paste_button.setToolTip(self.tr("One address, or a list with one a line"))
        self.open_button.setText(self.tr("Open a file…"))
        self.open_button.setToolTip(self.tr("Parse a file of addresses (Ctrl+O)"))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        elif event.type() == QEvent.Type.FontChange:
            fit_segments(self.mode_buttons)

    @property
    def field(self) -> QLineEdit:
        """Where one address is typed."""
        return self.single.field

    @property
    def result(self) -> ParsedAddress | None:
        """The answer that is shown."""
        return self.single.result

    def parse(self, text: str) -> None:
        """Show what ``text`` is made of, once the server has answered."""
        self.show_mode(_SINGLE)
        self.single.parse(text)

    @Slot(int)
    def show_mode(self, mode: int) -> None:
        self.mode_buttons[mode].setChecked(True)
        self.modes.setCurrentIndex(mode)
        self.setFocusProxy(self.single.field if mode == _SINGLE else self.mode_buttons[_FILE])

    def open_file(self, path: Path) -> None:
        """Show a file of addresses: what was detected, to be parsed on a click."""
        self.file.open(path)

    @Slot()
    def _show_file(self) -> None:
        self.show_mode(_FILE)
        self.above.hide()

    @Slot()
    def _choose_file(self) -> None:
        self.file.choose_file()

    @Slot()
    def _paste(self) -> None:
        self.show_mode(_SINGLE)
        self.single.paste()

    @Slot(list)
    def _open_pasted(self, lines: list[str]) -> None:
        path = paths.cache_dir() / _PASTED
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines) + "\n", "utf-8", "surrogatepass")
        except OSError as error:
            self._refused(error)
            return
        self.open_file(path)

    # -- work that was not finished ----------------------------------------------------------------

    def _offer(self, found: tuple[WorkFile, Counts] | None) -> None:
        if found is None or self.job.busy or self.job.work is not None:
            return
        self._unfinished, counts = found
        name = self._unfinished.about.name
        self.notice.show_notice(
            lambda: self.tr("{0} was not finished: {1} are done.").format(
                name, rows_words(counts.answered, counts.total)
            ),
            lambda: self.tr("Continue"),
        )
        self.above.show()

    @Slot()
    def _resume(self) -> None:
        if self._unfinished is not None and not self.job.busy:
            self.file.resume_work(self._unfinished)
        self.above.hide()
        self._unfinished = None

    @Slot()
    def _job_changed(self) -> None:
        if self.job.busy and self._unfinished is not None:
            self._unfinished = None
            self.above.hide()

    @Slot(object)
    def _refused(self, error: Exception) -> None:
        if self.modes.currentIndex() == _SINGLE:
            self.single.say_error(error_words(error))

    # -- drag and drop -----------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped(event):
            event.acceptProposedAction()
            self.file.start.drop.show_over(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.file.start.drop.show_over(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self.file.start.drop.show_over(False)
        found = _dropped(event)
        if not found:
            return
        event.acceptProposedAction()
        if len(found) > 1:
            self._show_file()
            if not self.job.busy:
                self.job.close_file()
            self.file.start.say(self.tr("Drop one file at a time."))
        else:
            self.open_file(found[0])


def _dropped(event: QDropEvent) -> list[Path]:
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]


def _unfinished() -> tuple[WorkFile, Counts] | None:
    """The newest file that was not finished."""
    for work in WorkFile.all():
        counts = work.counts()
        if counts.answered < counts.total:
            return work, counts
    return None
