"""What is done with whole conversations: rename, pin, delete with undo, export, import."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from desktop.ui.archive import Archive
from desktop.ui.conversation import Conversation
from desktop.ui.conversation_panel import ConversationPanel
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.transfer_dialogs import Transfer

_UNDO_SECONDS = 30.0


class ConversationActions(QObject):
    """Between the panel, which says which conversation, and the store.

    ``undo_notice``: where undoing is offered. ``tell(sentence)``: how export and import went.
    """

    def __init__(
        self,
        panel: ConversationPanel,
        conversation: Conversation,
        archive: Archive,
        undo_notice: NoticeBar,
        window: QWidget,
        tell: Callable[[str], None],
    ) -> None:
        super().__init__(panel)
        self._panel = panel
        self._conversation = conversation
        self._archive = archive
        self._undo_notice = undo_notice
        self._transfer = Transfer(archive, window, tell)
        self._deleted: int | None = None
        panel.renamed.connect(self._rename)
        panel.pinned.connect(self._pin)
        panel.deleted.connect(self._delete)
        panel.export_asked.connect(self._export)
        panel.import_asked.connect(self.import_file)
        conversation.deleted.connect(self._messages_deleted)
        undo_notice.acted.connect(self._undo)

    @Slot(object, str)
    def _rename(self, conversation: int, title: str) -> None:
        self._archive.ask(lambda database: database.rename(conversation, title))
        if conversation == self._conversation.id:
            self._conversation.title = title
            self._conversation.titled.emit()

    @Slot(object, bool)
    def _pin(self, conversation: int, pinned: bool) -> None:
        self._archive.ask(lambda database: database.pin(conversation, pinned))
        self._panel.refresh()

    @Slot(object, str)
    def _delete(self, conversation: int, title: str) -> None:
        self._archive.ask(lambda database: database.delete(conversation))
        self._deleted = conversation
        if conversation == self._conversation.id:
            self._conversation.stop()
            self._conversation.new()
        self._panel.refresh()
        self._offer_undo(lambda: self.tr("“{0}” was deleted.").format(title))

    @Slot(int)
    def _messages_deleted(self, count: int) -> None:
        self._deleted = None
        self._offer_undo(lambda: self.tr("%n message(s) deleted.", "", count))

    def _offer_undo(self, words: Callable[[], str]) -> None:
        self._undo_notice.show_notice(
            words, lambda: self.tr("Undo"), keys=lambda: "Ctrl+Z", seconds=_UNDO_SECONDS
        )

    @Slot()
    def _undo(self) -> None:
        conversation, self._deleted = self._deleted, None
        if conversation is None:
            self._conversation.undo_delete()
            return
        self._archive.ask(lambda database: database.restore(conversation))
        self._conversation.open(conversation)
        self._panel.refresh()

    @Slot(object)
    def _export(self, conversation: int) -> None:
        shown = conversation == self._conversation.id
        entry = self._panel.model.entry(conversation)
        title = self._conversation.title if shown else str(entry.data() or "")
        self._transfer.export(conversation, title)

    @Slot()
    def import_file(self) -> None:
        self._transfer.import_file(self._imported)

    def import_path(self, path: Path) -> None:
        self._transfer.import_path(path, self._imported)

    def _imported(self, conversation: int) -> None:
        self._conversation.open(conversation)
        self._panel.refresh()
