"""Settings: what Tritalk is made of, under which licences, and what its models are."""

from __future__ import annotations

import importlib.metadata
import platform
import sqlite3
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import Qt, Slot, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from desktop import backup, interpreter, paths
from desktop.ui import theme
from desktop.ui.controls import label
from desktop.ui.settings_section import Section

if TYPE_CHECKING:
    from desktop.ui.application import Application

_CARD = "MODEL_CARD.md"
_PACKAGES = (
    "PySide6_Essentials",
    "nvidia-pytriton",
    "tritonclient",
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "numpy",
    "grpcio",
    "protobuf",
    "docker",
    "openpyxl",
    "charset-normalizer",
    "platformdirs",
)


def licence_file() -> Path:
    """The licence's text: beside the packages, or where an installed wheel has it (PEP 639)."""
    beside = Path(__file__).resolve().parents[2] / "LICENSE"
    try:
        files = [] if beside.exists() else importlib.metadata.distribution("tritalk").files or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    return next((Path(str(f.locate())) for f in files if f.name == "LICENSE"), beside)


class Component(NamedTuple):
    name: str
    version: str
    licence: str


def components() -> list[Component]:
    """What runs in this process and in its server, as their packages say."""
    found = [
        Component("Python", platform.python_version(), "PSF-2.0"),
        Component("Qt", qVersion(), "LGPL-3.0-only"),
        Component("SQLite", sqlite3.sqlite_version, "Public domain"),
    ]
    for name in _PACKAGES:
        try:
            package = interpreter.distribution(name).metadata
        except importlib.metadata.PackageNotFoundError:
            continue
        found.append(Component(name, package["Version"], _licence(package)))
    return found


def _licence(package: importlib.metadata.PackageMetadata) -> str:
    """The expression where there is one, else a short name, else the classifiers."""
    for key, longest in (("License-Expression", 200), ("License", 60)):
        text = str((package.get_all(key) or [""])[0]).strip()
        if text and len(text) <= longest and "\n" not in text:
            return text
    prefix = "License :: OSI Approved :: "
    names = [str(each) for each in package.get_all("Classifier") or []]
    known = [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
    return ", ".join(known) or "–"


def model_cards() -> list[Path]:
    """Of the models that ship and of those that were added."""
    folders = (paths.resources_dir() / "models", paths.data_dir() / "models")
    return sorted(card for folder in folders for card in folder.rglob(_CARD))


class Reader(QDialog):
    """A longer text, in Markdown or plain."""

    def __init__(self, title: str, path: Path, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.text = QTextBrowser(self)
        self.text.setObjectName("reader")
        self.text.setAccessibleName(title)
        self.text.setOpenExternalLinks(True)
        words = path.read_text("utf-8", errors="replace")
        if path.suffix == ".md":
            self.text.setMarkdown(words)
        else:
            self.text.setPlainText(words)
        close = QPushButton(self.tr("Close"), self)
        close.clicked.connect(self.close)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(close)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 16, 16, 16)
        box.setSpacing(12)
        box.addWidget(self.text, 1)
        box.addLayout(foot)
        room = parent.size()
        self.resize(min(theme.px(720), room.width()), min(theme.px(560), room.height()))


class AboutSection(Section):
    name = "about"

    def __init__(self, app: Application) -> None:
        super().__init__(app)
        self.reader: Reader | None = None
        self._components: list[Component] = []
        self.heading = label(self, "crumb")
        self.heading.setText("Tritalk")
        self.version = label(self, "small", wrap=True)
        self.licence_button = QPushButton(self)
        row = QHBoxLayout()
        row.addWidget(self.version, 1)
        row.addWidget(self.licence_button)
        self.card(self.heading, row)
        models = QHBoxLayout()
        models.setSpacing(8)
        self.model_buttons: list[QPushButton] = []
        for path in model_cards():
            button = QPushButton(path.parent.name, self)
            button.clicked.connect(partial(self._read, path.parent.name, path))
            self.model_buttons.append(button)
            models.addWidget(button)
        models.addStretch(1)
        self._models_title = self.card(models, titled=True)
        holder = QWidget(self)
        self._grid = QGridLayout(holder)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(2, 1)
        self.copy_button = QPushButton(self)
        copy = QHBoxLayout()
        copy.addWidget(self.copy_button)
        copy.addStretch(1)
        self._components_title = self.card(holder, copy, titled=True)
        self._box.addStretch(1)
        licence = licence_file()
        self.licence_button.clicked.connect(partial(self._read, "Apache-2.0", licence))
        self.licence_button.setVisible(licence.exists())
        self.copy_button.clicked.connect(self._copy)
        self.retranslate()

    def title(self) -> str:
        return self.tr("About")

    def refresh(self) -> None:
        if not self._components:
            self.app.session.background.run(
                lambda task: components(), succeeded=self._show_components
            )

    def _show_components(self, found: list[Component]) -> None:
        self._components = found
        holder = self._grid.parentWidget()
        for row, each in enumerate(found):
            for column, words in enumerate(each):
                cell = label(holder, "small", wrap=column == 2)
                cell.setText(words)
                self._grid.addWidget(cell, row, column, Qt.AlignmentFlag.AlignTop)

    @Slot()
    def _copy(self) -> None:
        lines = [f"Tritalk {backup.application_version()}", platform.platform()]
        lines += ["  ".join(each) for each in self._components]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _read(self, title: str, path: Path) -> None:
        self.reader = Reader(title, path, self.window())
        self.reader.destroyed.connect(self._reader_gone)
        self.reader.show()

    @Slot()
    def _reader_gone(self) -> None:
        self.reader = None

    def retranslate(self) -> None:
        self.version.setText(
            self.tr("Version {0}. Apache-2.0. Everything runs on your own machine.").format(
                backup.application_version()
            )
        )
        self.licence_button.setText(self.tr("Licence"))
        self._models_title.setText(self.tr("Model cards"))
        for button in self.model_buttons:
            button.setToolTip(self.tr("What the model was made of, and what it is worth"))
        self._components_title.setText(self.tr("Components and their licences"))
        self.copy_button.setText(self.tr("Copy"))
