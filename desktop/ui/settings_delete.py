"""The question before everything is deleted: what goes, what stays, and a word to be typed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop.inventory import Entry, Kind
from desktop.ui import theme
from desktop.ui.controls import label
from desktop.ui.settings_words import kind_words, size_words

_ON_CHOICE = (Kind.BACKUPS, Kind.MODELS)


class DeleteDialog(QDialog):
    """``kinds`` after it was accepted: what is to be removed."""

    def __init__(self, entries: Sequence[Entry], parent: QWidget) -> None:
        super().__init__(parent)
        self.setModal(True)
        theme.fit(self, width=480)
        self.setWindowTitle(self.tr("Delete all data"))
        self.word = self.tr("delete")
        title = label(self, "pageTitle")
        title.setText(self.tr("Delete all data"))
        always = [each for each in entries if each.kind not in _ON_CHOICE]
        goes = label(self, "", wrap=True)
        names = self.tr(", ").join(
            self.tr("{0} ({1})").format(kind_words(each.kind), size_words(each.size))
            for each in always
        )
        goes.setText(self.tr("To be deleted for good: {0}.").format(names))
        stays = label(self, "small", wrap=True)
        stays.setText(
            self.tr(
                "Tritalk stops its server, deletes these and quits. The program itself with its "
                "models stays, and so do files you exported or backed up elsewhere, images in "
                "Docker, and whatever else is in these folders. Files are removed, not overwritten."
            )
        )
        self.choices: dict[Kind, QCheckBox] = {}
        for each in entries:
            if each.kind in _ON_CHOICE:
                choice = QCheckBox(self)
                choice.setText(
                    self.tr("Also {0} ({1})").format(kind_words(each.kind), size_words(each.size))
                )
                self.choices[each.kind] = choice
        ask = label(self, "", wrap=True)
        ask.setText(self.tr("Type “{0}” to confirm:").format(self.word))
        self.field = QLineEdit(self)
        self.field.setObjectName("setting")
        self.field.setAccessibleName(ask.text())
        self.cancel_button = QPushButton(self.tr("Cancel"), self)
        self.delete_button = QPushButton(self.tr("Delete and quit"), self)
        self.delete_button.setObjectName("danger")
        self.delete_button.setAutoDefault(False)
        self.cancel_button.setAutoDefault(False)
        self.delete_button.setEnabled(False)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addStretch(1)
        foot.addWidget(self.cancel_button)
        foot.addWidget(self.delete_button)
        box = QVBoxLayout(self)
        box.setContentsMargins(24, 20, 24, 20)
        box.setSpacing(12)
        for part in (title, goes, *self.choices.values(), stays, ask, self.field):
            box.addWidget(part)
        box.addSpacing(4)
        box.addLayout(foot)
        self.field.textChanged.connect(self._typed)
        self.cancel_button.clicked.connect(self.reject)
        self.delete_button.clicked.connect(self.accept)
        self._always = [each.kind for each in always]
        self.field.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # The size hint of a dialog takes wrapped lines for single ones.
        self.setFixedHeight(self.heightForWidth(self.width()))

    @property
    def kinds(self) -> set[Kind]:
        return {*self._always, *(kind for kind, box in self.choices.items() if box.isChecked())}

    @Slot()
    def _typed(self) -> None:
        typed = self.field.text().strip().casefold()
        self.delete_button.setEnabled(typed == self.word.casefold())
