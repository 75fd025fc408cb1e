"""Settings: what is kept on this machine, backing it up, restoring it, deleting it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QWidget,
)

from desktop import backup, inventory, paths
from desktop.inventory import Entry
from desktop.restore import Checked
from desktop.ui.controls import label, set_level
from desktop.ui.settings_backup import BackupJob, described
from desktop.ui.settings_delete import DeleteDialog
from desktop.ui.settings_section import Section
from desktop.ui.settings_words import kind_words, size_words

if TYPE_CHECKING:
    from desktop.ui.application import Application

_STEPS = 1000


class DataSection(Section):
    name = "data"

    def __init__(self, app: Application) -> None:
        super().__init__(app)
        self.entries: list[Entry] = []
        self.job = BackupJob(app, self)
        self.question: QMessageBox | None = None
        self.delete_dialog: DeleteDialog | None = None
        self._make_folder()
        self._make_backup()
        self._make_delete()
        self._box.addStretch(1)
        self.job.progressed.connect(self._progressed)
        self.job.ended.connect(self._ended)
        self.job.found.connect(self._ask_whether_to_restore)
        self.retranslate()
        self._say("", "")
        self._show_job()

    def _make_folder(self) -> None:
        self.path = label(self, "mono", wrap=True)
        self.path.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.open_button = QPushButton(self)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.path, 1)
        row.addWidget(self.open_button, 0, Qt.AlignmentFlag.AlignTop)
        holder = QWidget(self)
        self._sizes = QGridLayout(holder)
        self._sizes.setContentsMargins(0, 0, 0, 0)
        self._sizes.setHorizontalSpacing(24)
        self._sizes.setVerticalSpacing(6)
        self._sizes.setColumnStretch(2, 1)
        self._folder_title = self.card(row, holder, titled=True)
        self.open_button.clicked.connect(self._open_folder)

    def _make_backup(self) -> None:
        self._backup_meaning = label(self, "small", wrap=True)
        self.backup_button = QPushButton(self)
        self.restore_button = QPushButton(self)
        self.cancel_button = QPushButton(self)
        self.bar = QProgressBar(self)
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(8)
        self.words = label(self, "progress", wrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.backup_button)
        row.addWidget(self.restore_button)
        row.addWidget(self.cancel_button)
        row.addWidget(self.bar, 1)
        row.addStretch(0)
        self._backup_title = self.card(self._backup_meaning, row, self.words, titled=True)
        self.backup_button.clicked.connect(self._choose_target)
        self.restore_button.clicked.connect(self._choose_backup)
        self.cancel_button.clicked.connect(self.job.cancel)

    def _make_delete(self) -> None:
        self._delete_meaning = label(self, "small", wrap=True)
        self.delete_button = QPushButton(self)
        self.delete_button.setObjectName("danger")
        row = QHBoxLayout()
        row.addWidget(self.delete_button)
        row.addStretch(1)
        self._delete_title = self.card(self._delete_meaning, row, titled=True)
        self.delete_button.clicked.connect(self._ask_whether_to_delete)

    def title(self) -> str:
        return self.tr("Data")

    def refresh(self) -> None:
        self.path.setText(str(paths.data_dir()))
        self.app.session.background.run(
            lambda task: inventory.entries(), succeeded=self._show_entries
        )

    def _show_entries(self, entries: list[Entry]) -> None:
        self.entries = entries
        while (item := self._sizes.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        holder = self._sizes.parentWidget()
        rows = [(kind_words(each.kind), each.size) for each in entries]
        rows.append((self.tr("in all"), sum(each.size for each in entries)))
        for number, (words, size) in enumerate(rows):
            name, amount = label(holder, "small"), label(holder, "small")
            name.setText(words[:1].upper() + words[1:])
            amount.setText(size_words(size))
            amount.setAlignment(Qt.AlignmentFlag.AlignRight)
            self._sizes.addWidget(name, number, 0)
            self._sizes.addWidget(amount, number, 1)

    def retranslate(self) -> None:
        self._folder_title.setText(self.tr("Data folder"))
        self.path.setAccessibleName(self.tr("Data folder"))
        self.open_button.setText(self.tr("Open folder"))
        self._backup_title.setText(self.tr("Backup"))
        self._backup_meaning.setText(
            self.tr(
                "One file with all conversations, address files with their corrections, and "
                "settings; without the token of a remote server. It is not encrypted."
            )
        )
        self.backup_button.setText(self.tr("Back up…"))
        self.restore_button.setText(self.tr("Restore…"))
        self.cancel_button.setText(self.tr("Cancel"))
        self._delete_title.setText(self.tr("Delete"))
        self._delete_meaning.setText(
            self.tr("Conversations, address files, settings, caches and logs, for good.")
        )
        self.delete_button.setText(self.tr("Delete all data…"))
        self._show_entries(self.entries)

    # The folder.

    @Slot()
    def _open_folder(self) -> None:
        folder = paths.data_dir()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._ended(self.tr("No file manager could be opened for {0}").format(folder), "danger")

    # Backup and restore.

    @Slot()
    def _choose_target(self) -> None:
        begin = str(Path.home() / backup.suggested_name())
        path, _ = QFileDialog.getSaveFileName(
            self, self.tr("Back up to"), begin, self.tr("Backups (*.zip)")
        )
        if path:
            target = Path(path)
            self.back_up(target if target.suffix else target.with_suffix(backup.SUFFIX))

    def back_up(self, target: Path) -> None:
        self._say("", "")
        self.job.write(target)
        self._show_job()

    @Slot()
    def _choose_backup(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self, self.tr("Restore"), str(Path.home()), self.tr("Backups (*.zip)")
        )
        if path:
            self.restore(Path(path))

    def restore(self, path: Path) -> None:
        """Look a backup through, then ask."""
        self._say("", "")
        self.job.check(path)
        self._show_job()

    @Slot(object)
    def _ask_whether_to_restore(self, checked: Checked) -> None:
        when, conversations, messages, files = described(checked.manifest)
        box = QMessageBox(self.window())
        box.setWindowTitle(self.tr("Restore"))
        box.setIcon(QMessageBox.Icon.Question)
        box.setText(self.tr("Restore the backup of {0}?").format(when))
        box.setInformativeText(
            self.tr(
                "Conversations: {0}, messages: {1}, address files: {2}. "
                "What is here now is backed up into the data folder first, then replaced."
            ).format(conversations, messages, files)
        )
        yes = box.addButton(self.tr("Restore"), QMessageBox.ButtonRole.AcceptRole)
        box.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole)

        def answered() -> None:
            wanted = box.clickedButton() is yes
            self.question = None
            box.deleteLater()
            if wanted:
                self.job.put_back()
            else:
                self.job.leave()
            self._show_job()

        box.finished.connect(answered)
        self.question = box
        self._show_job()
        box.open()

    @Slot(float)
    def _progressed(self, share: float) -> None:
        self.bar.setValue(round(share * _STEPS))
        self.bar.setAccessibleName(f"{share:.0%}")

    @Slot(str, str)
    def _ended(self, words: str, level: str) -> None:
        self._say(words, level)
        self._show_job()
        self.refresh()

    def _say(self, words: str, level: str) -> None:
        self.words.setText(words)
        self.words.setVisible(bool(words))
        set_level(self.words, level)

    def _show_job(self) -> None:
        busy = self.job.busy or self.question is not None
        for button in (self.backup_button, self.restore_button):
            button.setVisible(not self.job.busy)
            button.setEnabled(not busy)
        self.delete_button.setEnabled(not busy)
        self.bar.setVisible(self.job.busy)
        self.cancel_button.setVisible(self.job.can_cancel)

    # Deleting.

    @Slot()
    def _ask_whether_to_delete(self) -> None:
        dialog = DeleteDialog(self.entries, self.window())

        def answered(result: int) -> None:
            self.delete_dialog = None
            dialog.deleteLater()
            if result == DeleteDialog.DialogCode.Accepted:
                self.app.delete_data(dialog.kinds)

        dialog.finished.connect(answered)
        self.delete_dialog = dialog
        dialog.open()
