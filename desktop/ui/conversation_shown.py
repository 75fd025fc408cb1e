"""The conversation on screen: opening it, showing a branch, keeping what belongs to it."""

from __future__ import annotations

import time
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from desktop.store.records import (
    DEFAULT_SETTINGS,
    ChatSettings,
    ConversationInfo,
    StoredConversation,
    new_id,
)
from desktop.store.schema import Notice, NoticeKind
from desktop.store.tree import MessageTree
from desktop.triton.types import Token
from desktop.ui.archive import Archive
from desktop.ui.conversation_runs import ReplyRuns
from desktop.ui.session import ServerSession
from desktop.ui.transcript import Message, Transcript

_TITLE_LENGTH = 40


class ShownConversation(QObject):
    """What is on screen, and its copy in the store. Lives on the GUI thread."""

    busy_changed = Signal(bool)
    #: Another conversation is on screen.
    opened = Signal()
    #: The conversation on screen has another title, or was begun.
    titled = Signal()
    #: The list's row of a conversation changed: its id.
    saved = Signal(object)
    #: A row is worth looking at.
    revealed = Signal(int)

    def __init__(
        self, session: ServerSession, archive: Archive, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.session = session
        self.archive = archive
        #: None until the first message is sent.
        self.id: int | None = None
        self.title = ""
        self.draft = ""
        self.settings = DEFAULT_SETTINGS
        self._begin_with: ChatSettings | None = None
        self.tree = MessageTree()
        self.transcript = Transcript(self)
        self.runs = ReplyRuns(session, archive, self.transcript, self)
        self._opening: int | None = None
        self._loading: set[int] = set()
        self.transcript.tokens_wanted.connect(self._load_tokens)
        archive.noticed.connect(self._store_changed)

    @property
    def busy(self) -> bool:
        """Whether a reply streams into what is on screen."""
        return self.runs.of(self.id) is not None

    # Which conversation is on screen.

    def open(self, conversation: int, message: int | None = None) -> None:
        """Show a stored conversation, and the branch of ``message`` where one is given."""
        if conversation == self.id:
            self._opening = None
            if message is not None:
                self._show_branch(message)
            return
        self._opening = conversation
        run = self.runs.of(conversation)

        def show(stored: StoredConversation | None) -> None:
            if stored is not None and self._opening == conversation:
                self._opening = None
                tree = run.tree if run else MessageTree(stored.messages, stored.active_root)
                self._show(stored, tree)
                if message is not None:
                    self._show_branch(message)

        self.archive.ask(lambda database: database.load(conversation), show)

    def begin_with(self, settings: ChatSettings | None) -> None:
        """How new conversations sample; None: as the one before them does."""
        self._begin_with = settings
        if settings is not None and self.id is None and not len(self.tree):
            self.change_settings(self._at_first())
            self.opened.emit()

    def _at_first(self) -> ChatSettings:
        """A new conversation's settings: how to sample and which model is a matter of taste, a
        persona one of the conversation."""
        last = replace(self.settings, persona="")
        return last if self._begin_with is None else replace(self._begin_with, model=last.model)

    def new(self) -> None:
        """Begin another conversation; it is kept from its first message on."""
        self._opening = None
        self._leave()
        self.tree = MessageTree()
        self.change_settings(self._at_first())
        self.transcript.show_tree(self.tree)
        self._arrive()

    def resume(self, draft: str, settings: ChatSettings | None) -> None:
        """Go on with a conversation that had no message yet when the window was closed."""
        self.draft, self.settings = draft, settings or self.settings
        self.opened.emit()

    def _show(self, stored: StoredConversation, tree: MessageTree) -> None:
        self._leave()
        self.id, self.title, self.draft = stored.info.id, stored.info.title, stored.draft
        self.settings = stored.settings or self.settings
        self.tree = tree
        self.transcript.show_tree(tree)
        self._arrive()

    def _leave(self) -> None:
        self.transcript.remove_from(0)
        self._loading.clear()
        self.id, self.title, self.draft = None, "", ""

    def _arrive(self) -> None:
        current = self.id
        self.archive.ask(lambda database: database.save_setting("conversation", current))
        self.opened.emit()
        self.busy_changed.emit(self.busy)

    def _show_branch(self, message_id: int) -> None:
        if message_id in self.tree and not self.busy:
            message = self.tree.message(message_id)
            shown = self.tree.path()
            for each in self.tree.ancestry(message):
                if each not in shown:
                    self.tree.activate(each)
                    self._save_active(each)
            self.transcript.show_tree(self.tree)
            self._reveal(message)

    def _reveal(self, message: Message) -> None:
        row = self.transcript.row_of(message)
        if row is not None:
            self.revealed.emit(row)

    @Slot(object)
    def _load_tokens(self, message: Message) -> None:
        """Fetch a stored reply's tokens once; its colours appear when they come."""
        if message.id in self._loading:
            return
        self._loading.add(message.id)

        def fill(tokens: list[Token]) -> None:
            if not message.tokens_loaded:
                message.tokens, message.tokens_loaded = tokens, True
                row = self.transcript.row_of(message)
                if row is not None:
                    self.transcript.touch(row)

        self.archive.ask(lambda database: database.tokens(message.id), fill)

    def _show_rows(self, message: Message) -> None:
        """Bring the screen up to date with the tree; counts of branches may have changed."""
        for sibling in self.tree.siblings(message):
            sibling.revision += 1
        self.transcript.show_tree(self.tree)
        row = self.transcript.row_of(message)
        if row is not None:
            self.transcript.touch(row)

    # Keeping.

    def save_draft(self, text: str) -> None:
        """Keep what is being typed; before a first message it belongs to the next conversation."""
        if text == self.draft:
            return
        self.draft = text
        conversation = self.id
        if conversation is None:
            self.archive.ask(lambda database: database.save_setting("draft", text))
        else:
            self.archive.ask(lambda database: database.save_draft(conversation, text))

    def change_settings(self, settings: ChatSettings) -> None:
        """From the next reply on, here and in conversations begun after this."""
        self.settings = settings
        conversation = self.id
        if conversation is not None:
            self.archive.ask(lambda database: database.save_settings(conversation, settings))
        else:
            self.archive.ask(lambda database: database.save_next_settings(settings))

    def _create(self, first: str) -> None:
        now = time.time()
        title = " ".join(first.split())[:_TITLE_LENGTH]
        info = ConversationInfo(new_id(), title, created=now, updated=now)
        settings = self.settings
        self.id, self.title = info.id, title
        self.archive.ask(lambda database: database.create(info, settings))
        self.archive.ask(lambda database: database.save_setting("conversation", info.id))
        self.archive.ask(lambda database: database.save_setting("draft", ""))
        following = replace(settings, persona="")
        self.archive.ask(lambda database: database.save_next_settings(following))
        self.titled.emit()

    def _forget_empty(self, conversation: int) -> None:
        self.id, self.title = None, ""
        self.archive.ask(lambda database: database.remove_if_empty(conversation))
        self.titled.emit()

    def _keep(self, message: Message) -> None:
        conversation = self.id
        assert conversation is not None
        snapshot = replace(message, tokens=list(message.tokens))
        self.archive.ask(
            lambda database: database.add_message(conversation, snapshot),
            lambda _: self.saved.emit(conversation),
        )

    @Slot(object)
    def _store_changed(self, notice: Notice) -> None:
        """A fresh file took the place of a damaged one: what is on screen goes into it."""
        if notice.kind is not NoticeKind.DAMAGED or self.id is None or not len(self.tree):
            return
        now = time.time()
        info = ConversationInfo(self.id, self.title, created=now, updated=now)
        settings = self.settings
        messages = [replace(each, tokens=list(each.tokens)) for each in self.tree.messages()]
        path = self.tree.path()

        self.archive.ask(lambda database: database.adopt(info, settings, messages, path))

    def _save_active(self, message: Message) -> None:
        conversation, parent = self.id, message.parent
        assert conversation is not None
        self.archive.ask(lambda database: database.activate(conversation, parent, message.id))
