"""The chat page: conversations, header, messages, composer, sampling panel, put together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, Qt, QTimer, Slot
from PySide6.QtGui import QFocusEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from desktop.launchers.base import ServerState, ServerStatus
from desktop.store.schema import Notice
from desktop.triton.types import Alternative
from desktop.ui.archive import Archive
from desktop.ui.chat_header import ChatHeader
from desktop.ui.coloring import Coloring
from desktop.ui.composer import Composer
from desktop.ui.controls import label
from desktop.ui.conversation import Conversation
from desktop.ui.conversation_panel import ConversationPanel
from desktop.ui.message_delegate import can_continue
from desktop.ui.message_layout import column
from desktop.ui.message_view import MessageView
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.sampling_panel import SamplingPanel
from desktop.ui.session import ServerSession
from desktop.ui.shortcuts import bind
from desktop.ui.token_explainer import TokenExplainer
from desktop.ui.token_popover import TokenPopover
from desktop.ui.transcript import Message, Role
from desktop.ui.transfer_dialogs import Transfer
from desktop.ui.words import notice_words

_DRAFT_MS = 400
_UNDO_SECONDS = 30.0
# Narrower than these the panels hide by themselves.
_LIST_FROM = 720
_SAMPLING_FROM = 1080


class ChatPage(QWidget):
    def __init__(
        self, session: ServerSession, archive: Archive, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.archive = archive
        self.conversation = Conversation(session, archive, self)
        self.panel = ConversationPanel(archive, self)
        self.header = ChatHeader(self)
        self.sampling = SamplingPanel(self)
        self.view = MessageView(self)
        self.view.set_transcript(self.conversation.transcript)
        self.composer = Composer(self)
        self.error = label(self, "error")
        self.error.setWordWrap(True)
        self.error.hide()
        self.store_notice = NoticeBar(self)
        self.undo_notice = NoticeBar(self)
        self.edit_notice = NoticeBar(self)
        self.edit_notice.dismiss.hide()
        self.empty = label(self.view, "empty")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setWordWrap(True)
        self.empty.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.transfer = Transfer(archive, self, self._tell)
        self._explainer = TokenExplainer(self.view, lambda: not self.conversation.busy)
        self.list_wanted = True
        self.sampling_wanted = True
        self._room: tuple[bool, bool] | None = None
        self._editing: Message | None = None
        self._deleted: int | None = None
        self._status = session.status
        self._lay_out()
        self._connect(session)
        self.sampling.show_settings(self.conversation.settings)
        self.retranslate()

    @property
    def popover(self) -> TokenPopover | None:
        """None until the first token was explained."""
        return self._explainer.popover

    def _lay_out(self) -> None:
        foot = QWidget(self)
        self._foot = QVBoxLayout(foot)
        self._foot.setContentsMargins(28, 8, 28, 16)
        self._foot.setSpacing(8)
        for widget in (
            self.store_notice,
            self.undo_notice,
            self.edit_notice,
            self.error,
            self.composer,
        ):
            self._foot.addWidget(widget)
        self._middle = QWidget(self)
        middle = QVBoxLayout(self._middle)
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(0)
        middle.addWidget(self.header)
        middle.addWidget(self.view, 1)
        middle.addWidget(foot)
        self.splitter = QSplitter(Qt.Orientation.Horizontal, self)
        self.splitter.setObjectName("chat")
        self.splitter.setChildrenCollapsible(False)
        # Qt takes the mouse up to two pixels beside so thin a line.
        self.splitter.setHandleWidth(1)
        for number, part in enumerate((self.panel, self._middle, self.sampling)):
            self.splitter.addWidget(part)
            self.splitter.setStretchFactor(number, int(part is self._middle))
        page = QHBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.addWidget(self.splitter)

    def _connect(self, session: ServerSession) -> None:
        conversation, view, panel = self.conversation, self.view, self.panel
        self.composer.submitted.connect(self._send)
        self.composer.stopped.connect(conversation.stop)
        self.composer.edited.connect(self.error.hide)
        conversation.busy_changed.connect(self._busy_changed)
        conversation.refused.connect(self._refused)
        conversation.opened.connect(self._opened)
        conversation.titled.connect(self._titled)
        conversation.saved.connect(panel.refresh)
        conversation.deleted.connect(self._messages_deleted)
        conversation.revealed.connect(view.reveal)
        for changed in (conversation.transcript.rowsInserted, conversation.transcript.rowsRemoved):
            changed.connect(self._rows_changed)
        view.width_changed.connect(self._align_foot)
        self._explainer.chosen.connect(self._choose)
        view.action_asked.connect(self._act)
        panel.chosen.connect(conversation.open)
        panel.new_asked.connect(self._start_anew)
        panel.renamed.connect(self._rename)
        panel.pinned.connect(self._pin)
        panel.deleted.connect(self._delete)
        self.sampling.changed.connect(conversation.change_settings)
        self.header.coloring_chosen.connect(self.set_coloring)
        self.header.list_button.clicked.connect(self.toggle_list)
        self.header.panel_button.clicked.connect(self.toggle_sampling)
        self.undo_notice.acted.connect(self._undo)
        self.edit_notice.acted.connect(self._stop_editing)
        self.archive.noticed.connect(self._store_noticed)
        panel.export_asked.connect(self._export)
        panel.import_asked.connect(self._import)
        session.status_changed.connect(self._status_changed)
        self._draft_timer = QTimer(self, singleShot=True, interval=_DRAFT_MS)
        self._draft_timer.timeout.connect(self.save_draft)
        self.composer.edited.connect(self._draft_timer.start)
        bind(
            self,
            {
                "new": self._start_anew,
                "search": self._search,
                "escape": self._escape,
                "rename": self._rename_shown,
                "list": self.toggle_list,
                "sampling": self.toggle_sampling,
                "regenerate": self._regenerate_last,
                "continue": self._continue_last,
                "edit": self._edit_last,
                "export": panel.export_current,
                "import": self._import,
                "previous_version": self._previous_branch,
                "next_version": self._next_branch,
                "undo": self.undo_notice.act,
                "next_unsure": self._next_unsure,
                "previous_unsure": self._previous_unsure,
            },
        )

    def retranslate(self) -> None:
        self._titled()
        self.view.setAccessibleName(self.tr("Messages"))
        self.empty.setText(
            self.tr(
                "Say something to begin.\n"
                "Each token of a reply is tinted by how probable it was to the model."
            )
        )
        self._status_changed(self._status)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.error.hide()
            self.retranslate()

    def focusInEvent(self, event: QFocusEvent) -> None:
        # No focus proxy: with one, Tab goes from what is before the page straight to the composer
        # and never to what stands between.
        self.composer.edit.setFocus(event.reason())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = (self.width() >= _LIST_FROM, self.width() >= _SAMPLING_FROM)
        if room != self._room:
            self._room = room
            self._show_panels(self.list_wanted and room[0], self.sampling_wanted and room[1])
        self._place_empty()

    # Side panels and colours.

    def restore_panels(self, list_wanted: bool, sampling_wanted: bool) -> None:
        self.list_wanted, self.sampling_wanted = list_wanted, sampling_wanted
        room = self._room or (True, True)
        self._show_panels(list_wanted and room[0], sampling_wanted and room[1])

    def _show_panels(self, conversations: bool, sampling: bool) -> None:
        self.panel.setVisible(conversations)
        self.sampling.setVisible(sampling)
        self.header.list_button.setChecked(conversations)
        self.header.panel_button.setChecked(sampling)

    @Slot()
    def toggle_list(self) -> None:
        self.list_wanted = self.panel.isHidden()
        self._show_panels(self.list_wanted, not self.sampling.isHidden())

    @Slot()
    def toggle_sampling(self) -> None:
        self.sampling_wanted = self.sampling.isHidden()
        self._show_panels(not self.panel.isHidden(), self.sampling_wanted)

    @Slot(object)
    def set_coloring(self, coloring: Coloring) -> None:
        self.view.delegate.coloring = coloring
        self.header.show_coloring(coloring)
        self.view.viewport().update()

    @Slot(int)
    def _align_foot(self, width: int) -> None:
        """Keep the composer in line with the messages above it."""
        left, inner = column(width)
        self._foot.setContentsMargins(left, 8, self._middle.width() - left - inner, 16)
        self._place_empty()

    def _place_empty(self) -> None:
        self.empty.setGeometry(self.view.rect().adjusted(32, 0, -32, 0))

    # What the conversation tells.

    @Slot()
    def _opened(self) -> None:
        """Another conversation is on screen: its title, draft, settings."""
        self._stop_editing()
        self.error.hide()
        self._titled()
        self.sampling.show_settings(self.conversation.settings)
        self.composer.set_text(self.conversation.draft)
        self._draft_timer.stop()
        self._rows_changed()

    @Slot()
    def _titled(self) -> None:
        self.header.title.show_text(self.conversation.title or self.tr("New conversation"))
        self.panel.set_current(self.conversation.id)

    @Slot()
    def _rows_changed(self) -> None:
        self.empty.setVisible(self.conversation.transcript.rowCount() == 0)
        self._show_context()

    @Slot(bool)
    def _busy_changed(self, busy: bool) -> None:
        self.composer.set_busy(busy)
        self._show_context()

    def _show_context(self) -> None:
        """What the last finished reply took of the model's context."""
        for message in reversed(self.conversation.transcript.messages()):
            if message.finished is not None and message.finished.num_input_tokens:
                finished = message.finished
                self.sampling.show_context(finished.num_input_tokens + finished.tokens)
                return
        self.sampling.show_context(0)

    @Slot(str, str)
    def _refused(self, sentence: str, text: str) -> None:
        if text:
            self.composer.give_back(text)
        self.error.setText(sentence)
        self.error.show()

    @Slot(object)
    def _status_changed(self, status: ServerStatus) -> None:
        self._status = status
        starting = status.state is ServerState.STARTING
        self.view.delegate.waiting_words = (
            self.tr("Waiting for the server to start…") if starting else "…"
        )
        if self.conversation.busy:
            self.view.forget_layouts()

    @Slot(object)
    def _store_noticed(self, notice: Notice) -> None:
        self.store_notice.show_notice(lambda: notice_words(notice))
        self.panel.refresh()

    # What the person does.

    @Slot(str)
    def _send(self, text: str) -> None:
        self.error.hide()
        editing = self._editing
        sent = (
            self.conversation.send(text)
            if editing is None
            else self.conversation.edit(editing, text)
        )
        if sent:
            self._editing = None
            self.edit_notice.hide()
            self.composer.clear()
            self.save_draft()

    @Slot()
    def save_draft(self) -> None:
        """Keep what is in the composer; an edited older message is no draft."""
        if self._editing is None:
            self.conversation.save_draft(self.composer.text())

    @Slot()
    def _escape(self) -> None:
        """Clear the search, stop what runs, give up editing, or close the popover."""
        if self.panel.search.hasFocus() and self.panel.search.text():
            self.panel.search.clear()
        elif self.conversation.busy:
            self.conversation.stop()
        elif self._editing is not None:
            self._stop_editing()
        else:
            self.view.leave_token()

    @Slot()
    def _start_anew(self) -> None:
        self.save_draft()
        self.conversation.new()
        self.composer.edit.setFocus()

    @Slot()
    def _search(self) -> None:
        if self.panel.isHidden():
            self.toggle_list()
        self.panel.focus_search()

    @Slot()
    def _rename_shown(self) -> None:
        if self.panel.isHidden():
            self.toggle_list()
        self.panel.rename_current()

    @Slot(object, str)
    def _rename(self, conversation: int, title: str) -> None:
        self.archive.ask(lambda database: database.rename(conversation, title))
        if conversation == self.conversation.id:
            self.conversation.title = title
            self._titled()

    @Slot(object, bool)
    def _pin(self, conversation: int, pinned: bool) -> None:
        self.archive.ask(lambda database: database.pin(conversation, pinned))
        self.panel.refresh()

    @Slot(object, str)
    def _delete(self, conversation: int, title: str) -> None:
        self.archive.ask(lambda database: database.delete(conversation))
        self._deleted = conversation
        if conversation == self.conversation.id:
            self.conversation.stop()
            self.conversation.new()
        self.panel.refresh()
        self._offer_undo(lambda: self.tr("“{0}” was deleted.").format(title))

    @Slot(int)
    def _messages_deleted(self, count: int) -> None:
        self._deleted = None
        self._offer_undo(lambda: self.tr("%n message(s) deleted.", "", count))

    def _offer_undo(self, words: Callable[[], str]) -> None:
        self.undo_notice.show_notice(
            words, lambda: self.tr("Undo"), keys=lambda: "Ctrl+Z", seconds=_UNDO_SECONDS
        )

    @Slot()
    def _undo(self) -> None:
        conversation, self._deleted = self._deleted, None
        if conversation is None:
            self.conversation.undo_delete()
            return
        self.archive.ask(lambda database: database.restore(conversation))
        self.conversation.open(conversation)
        self.panel.refresh()

    @Slot(object)
    def _export(self, conversation: int) -> None:
        shown = conversation == self.conversation.id
        entry = self.panel.model.entry(conversation)
        title = self.conversation.title if shown else str(entry.data() or "")
        self.transfer.export(conversation, title)

    def _tell(self, sentence: str) -> None:
        self.store_notice.show_notice(lambda: sentence)

    @Slot()
    def _import(self) -> None:
        self.transfer.import_file(self._imported)

    def open_file(self, path: Path) -> None:
        """Import an exported conversation and show it."""
        self.transfer.import_path(path, self._imported)

    def _imported(self, conversation: int) -> None:
        self.conversation.open(conversation)
        self.panel.refresh()

    # What is done with messages.

    @Slot(str, int)
    def _act(self, action: str, row: int) -> None:
        message = self.conversation.transcript.message(row)
        if action == "edit":
            self._edit(message)
        elif action == "previous":
            self.conversation.step_branch(message, -1)
        elif action == "next":
            self.conversation.step_branch(message, 1)
        elif action == "regenerate":
            self.conversation.regenerate(message)
        elif action == "continue":
            self.conversation.continue_reply(message)
        elif action == "delete":
            self.conversation.delete_from(message)

    def _edit(self, message: Message) -> None:
        """Take an older message into the composer; sending it makes a branch."""
        if self.conversation.busy:
            return
        self.save_draft()
        self._editing = message
        self._show_editing()
        self.composer.set_text(message.text)
        self.composer.edit.setFocus()

    def _show_editing(self) -> None:
        self.edit_notice.show_notice(
            lambda: self.tr(
                "You are editing an earlier message; sending it begins another version."
            ),
            lambda: self.tr("Cancel"),
            keys=lambda: self.tr("Esc"),
        )

    @Slot()
    def _stop_editing(self) -> None:
        if self._editing is not None:
            self._editing = None
            self.edit_notice.hide()
            self.composer.set_text(self.conversation.draft)

    def _current(self, role: Role) -> Message | None:
        row = self.view.current_row(role)
        return None if row is None else self.conversation.transcript.message(row)

    @Slot()
    def _regenerate_last(self) -> None:
        if (message := self._current(Role.REPLY)) is not None:
            self.conversation.regenerate(message)

    @Slot()
    def _continue_last(self) -> None:
        message = self._current(Role.REPLY)
        if message is not None and can_continue(message):
            self.conversation.continue_reply(message)

    @Slot()
    def _edit_last(self) -> None:
        if (message := self._current(Role.USER)) is not None:
            self._edit(message)

    @Slot()
    def _previous_branch(self) -> None:
        self._step_branch(-1)

    @Slot()
    def _next_branch(self) -> None:
        self._step_branch(1)

    def _step_branch(self, step: int) -> None:
        """Step through the versions of the focused token's message, else of the last one that has
        any."""
        transcript = self.conversation.transcript
        focus = self.view.focus_token
        candidates = [focus[0]] if focus else range(transcript.rowCount() - 1, -1, -1)
        for row in candidates:
            message = transcript.message(row)
            if transcript.branch(message)[1] > 1:
                self.conversation.step_branch(message, step)
                return

    # Tokens.

    @Slot()
    def _next_unsure(self) -> None:
        self.view.setFocus()
        self.view.step_unsure(1)

    @Slot()
    def _previous_unsure(self) -> None:
        self.view.setFocus()
        self.view.step_unsure(-1)

    @Slot(int, int, object)
    def _choose(self, row: int, number: int, alternative: Alternative) -> None:
        message = self.conversation.transcript.message(row)
        self.conversation.choose(message, number, alternative)
