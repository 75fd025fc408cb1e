"""Imports a chat model: from where, under which name, how far it is, and how it went."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop.models import Installed, Progress, chat, worker
from desktop.models.worker import Cancel
from desktop.ui import theme
from desktop.ui.controls import label, primary_button, set_level
from desktop.ui.phrases import phrase_words
from desktop.ui.session import ServerSession
from desktop.ui.tasks import Task
from desktop.ui.words import error_words

_LOOK_MS = 100

# ``bring_in`` of :mod:`desktop.models.chat`.
BringIn = Callable[[str, str, Callable[[Progress], None], Cancel], Installed]


class ImportDialog(QDialog):
    """Stays usable beside the window; closing it ends an import that is under way."""

    # A model was imported: its name.
    imported = Signal(str)

    def __init__(
        self,
        session: ServerSession,
        parent: QWidget | None = None,
        bring_in: BringIn = chat.bring_in,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._bring_in = bring_in
        self._task: Task | None = None
        self._cancel = Cancel()
        self._progress = Progress("")
        self._outcome: tuple[str, Exception | Installed | None] = ("", None)
        self.intro = label(self, "small", wrap=True)
        self.source_label = QLabel(self)
        self.source = QLineEdit(self)
        self.choose_button = QPushButton(self)
        self.name_label = QLabel(self)
        self.name = QLineEdit(self)
        self.name.setMaxLength(64)
        self.hint = label(self, "small", wrap=True)
        self.words = label(self, "fact", wrap=True)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(8)
        self.close_button = QPushButton(self)
        self.import_button = primary_button(self)
        self.import_button.setDefault(True)
        self.source_label.setBuddy(self.source)
        self.name_label.setBuddy(self.name)
        theme.fit(self, min_width=560)
        self._lay_out()
        self._timer = QTimer(self, interval=_LOOK_MS)
        self._timer.timeout.connect(self._show_progress)
        self.source.textChanged.connect(self._suggest)
        self.choose_button.clicked.connect(self._choose)
        self.import_button.clicked.connect(self.start)
        self.close_button.clicked.connect(self.reject)
        self.retranslate()

    def _lay_out(self) -> None:
        fields = QGridLayout()
        fields.setHorizontalSpacing(12)
        fields.setVerticalSpacing(8)
        fields.addWidget(self.source_label, 0, 0)
        fields.addWidget(self.source, 0, 1)
        fields.addWidget(self.choose_button, 0, 2)
        fields.addWidget(self.name_label, 1, 0)
        fields.addWidget(self.name, 1, 1, 1, 2)
        fields.setColumnStretch(1, 1)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.close_button)
        buttons.addWidget(self.import_button)
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 20, 20, 16)
        box.setSpacing(12)
        box.addWidget(self.intro)
        box.addLayout(fields)
        box.addWidget(self.hint)
        box.addWidget(self.words)
        box.addWidget(self.bar)
        box.addStretch(1)
        box.addLayout(buttons)

    def retranslate(self) -> None:
        self.setWindowTitle(self.tr("Import a chat model"))
        self.intro.setText(
            self.tr(
                "CDial-GPT, GPT2-chitchat, or any causal language model of transformers with a "
                "chat template. It is checked and copied; none of its code is run."
            )
        )
        self.source_label.setText(self.tr("&From"))
        self.source.setPlaceholderText(self.tr("a folder, or a name on the hub: owner/model"))
        self.source.setAccessibleName(self.tr("Folder or name on the Hugging Face hub"))
        self.choose_button.setText(self.tr("Choose folder…"))
        self.name_label.setText(self.tr("&Name"))
        self.name.setAccessibleName(self.tr("What the model is called here"))
        self.hint.setText(
            self.tr(
                "A name on the hub is downloaded from huggingface.co now, and only on your "
                "request. Mind the model's licence; CDial-GPT's weights are for research only."
            )
        )
        self.import_button.setText(self.tr("Import"))
        self._suggest()
        self._show()

    @property
    def busy(self) -> bool:
        return self._task is not None

    # -- what the person does -----------------------------------------------------------------

    @Slot()
    def _choose(self) -> None:
        chosen = QFileDialog.getExistingDirectory(
            self, self.tr("Choose the model's folder"), str(Path.home())
        )
        if chosen:
            self.source.setText(chosen)

    @Slot()
    def _suggest(self) -> None:
        source = self.source.text().strip()
        self.name.setPlaceholderText(chat.suggested_name(source) if source else "")
        self.import_button.setEnabled(bool(source) and not self.busy)

    @Slot()
    def start(self) -> None:
        """Import what is entered, in the background."""
        source, name = self.source.text().strip(), self.name.text().strip()
        if self.busy or not source:
            return
        cancel = self._cancel = Cancel()
        self._progress = Progress("looking at the files")
        self._outcome = ("", None)

        def report(progress: Progress) -> None:
            self._progress = progress  # read by the timer; the newest is enough

        def work(task: Task) -> Installed:
            task.on_cancel(cancel)
            return self._bring_in(source, name, report, cancel)

        self._task = self._session.background.run(
            work, succeeded=self._succeeded, failed=self._failed
        )
        self._timer.start()
        self._show()

    def reject(self) -> None:
        """Cancel what is under way; else close."""
        if not self.busy:
            super().reject()
            return
        self._cancel()  # ends the process, whereupon the task fails
        self._progress = Progress("cancelling")
        self.close_button.setEnabled(False)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.busy:
            self.reject()
            event.ignore()
        else:
            super().closeEvent(event)

    # -- what comes of it ---------------------------------------------------------------------

    def _succeeded(self, model: Installed) -> None:
        self._end(("done", model))
        self.source.clear()
        self.name.clear()
        self.imported.emit(model.name)

    def _failed(self, error: Exception) -> None:
        self._end(("cancelled" if isinstance(error, worker.Cancelled) else "failed", error))

    def _end(self, outcome: tuple[str, Exception | Installed | None]) -> None:
        self._task = None
        self._timer.stop()
        self._outcome = outcome
        self.close_button.setEnabled(True)
        self._show()
        self._suggest()

    def _show(self) -> None:
        for each in (self.source, self.choose_button, self.name):
            each.setEnabled(not self.busy)
        self.import_button.setEnabled(bool(self.source.text().strip()) and not self.busy)
        self.bar.setVisible(self.busy)
        self.close_button.setText(self.tr("Cancel") if self.busy else self.tr("Close"))
        if self.busy:
            self._show_progress()
            self._make_room()
            return
        how, what = self._outcome
        level, words = "plain", ""
        if isinstance(what, Installed):
            level = "ok"
            words = self.tr("{0} is imported ({1}).").format(what.name, what.about)
        elif how == "cancelled":
            words = self.tr("The import was cancelled; a begun download goes on next time.")
        elif isinstance(what, Exception):
            level, words = "danger", error_words(what)
        set_level(self.words, level)
        self.words.setText(words)
        self.words.setVisible(bool(words))

        self._make_room()

    def _make_room(self) -> None:
        """Words that wrap need more height than a window takes by itself."""
        layout = self.layout()
        if layout is not None:
            layout.invalidate()
            self.setMinimumHeight(layout.totalHeightForWidth(self.width()))

    @Slot()
    def _show_progress(self) -> None:
        progress = self._progress
        words = phrase_words(progress.message)
        if progress.total:
            words += self.tr(" · {0} of {1} MB").format(
                f"{progress.done / 1e6:,.0f}", f"{progress.total / 1e6:,.0f}"
            )
        set_level(self.words, "plain")
        self.words.setText(words)
        self.words.setVisible(True)
        share = progress.share()
        self.bar.setMaximum(0 if share is None else 1000)
        if share is not None:
            self.bar.setValue(int(share * 1000))

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize, QEvent.Type.Show):
            self._make_room()
        return handled

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
