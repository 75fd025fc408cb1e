"""Export and import: where to, where from, and how it went."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from desktop.store import transfer
from desktop.ui.archive import Archive
from desktop.ui.words import error_words

_SUFFIXES = (".html", ".md", ".json")


class Transfer(QObject):
    """Asks for a file, has the store write or read it, and tells ``done(sentence)``."""

    def __init__(self, archive: Archive, window: QWidget, done: Callable[[str], None]) -> None:
        super().__init__(window)
        self._archive = archive
        self._window = window
        self._done = done

    def export(self, conversation: int, title: str) -> None:
        """The kind is that of the chosen filter, or of the ending that was typed."""
        filters = {
            self.tr("Web page with the colours (*.html)"): ".html",
            self.tr("Markdown (*.md)"): ".md",
            self.tr("Everything, to be imported again (*.json)"): ".json",
        }
        name = "".join(c if c.isalnum() or c in " -_" else "_" for c in title).strip()[:60]
        chosen, kind = QFileDialog.getSaveFileName(
            self._window,
            self.tr("Export the conversation"),
            str(Path.home() / f"{name or 'tritalk'}.html"),
            ";;".join(filters),
        )
        if not chosen:
            return
        path = Path(chosen)
        wanted = filters.get(kind, ".html")
        if path.suffix.lower() not in _SUFFIXES:
            path = path.with_name(path.name + wanted)
        elif path.suffix.lower() == ".html" and wanted != ".html":
            # The name that was offered, with another kind chosen in the list.
            path = path.with_suffix(wanted)
        self._archive.ask(
            lambda database: transfer.export(database, conversation, path),
            lambda _: self._done(self.tr("Exported to {0}.").format(path)),
            self._failed,
        )

    def import_file(self, then: Callable[[int], None]) -> None:
        """``then(conversation)`` once it is there."""
        chosen, _ = QFileDialog.getOpenFileName(
            self._window,
            self.tr("Import a conversation"),
            str(Path.home()),
            self.tr("Exported conversation (*.json)"),
        )
        if chosen:
            self.import_path(Path(chosen), then)

    def import_path(self, path: Path, then: Callable[[int], None]) -> None:
        """As :meth:`import_file`, of a file that was chosen elsewhere."""
        self._archive.ask(lambda database: transfer.import_file(database, path), then, self._failed)

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, Exception):
            self._done(error_words(error))
        else:
            self._done(
                QCoreApplication.translate("words", "Something went wrong: {0}").format(error)
            )
