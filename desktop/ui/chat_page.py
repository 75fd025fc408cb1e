"""The chat page: conversations, header, messages, composer, sampling panel, put together."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, Qt, QTimer, Slot
from PySide6.QtGui import QFocusEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from desktop.launchers.base import ServerState, ServerStatus
from desktop.store.records import ChatSettings
from desktop.store.schema import Notice
from desktop.ui import theme
from desktop.ui.archive import Archive
from desktop.ui.chat_header import ChatHeader
from desktop.ui.coloring import Coloring
from desktop.ui.composer import Composer
from desktop.ui.controls import label
from desktop.ui.conversation import Conversation
from desktop.ui.conversation_actions import ConversationActions
from desktop.ui.conversation_panel import ConversationPanel
from desktop.ui.message_accessible import MessageReader
from desktop.ui.message_actions import MessageActions
from desktop.ui.message_layout import column
from desktop.ui.message_view import MessageView
from desktop.ui.model_watch import ModelWatch
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.sampling_panel import SamplingPanel
from desktop.ui.session import ServerSession
from desktop.ui.shortcuts import bind
from desktop.ui.token_explainer import TokenExplainer
from desktop.ui.token_popover import TokenPopover
from desktop.ui.transcript import Message
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
        self.reader = MessageReader(self.view)
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
        self.messages = MessageActions(
            self.view, self.conversation, self.composer, self.edit_notice, self.save_draft
        )
        self.conversations = ConversationActions(
            self.panel, self.conversation, archive, self.undo_notice, self, self._tell
        )
        self.models = ModelWatch(session, self)
        self._explainer = TokenExplainer(self.view, lambda: not self.conversation.busy)
        self.list_wanted = True
        self.sampling_wanted = True
        self._room: tuple[bool, bool] | None = None
        self._scale = theme.scale()
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
        for number, part in enumerate((self.panel, self._middle)):
            self.splitter.addWidget(part)
            self.splitter.setStretchFactor(number, int(part is self._middle))
        page = QHBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self.splitter, 1)
        # Of one width, which the splitter would not heed.
        page.addWidget(self.sampling)

    def _connect(self, session: ServerSession) -> None:
        conversation, view, panel = self.conversation, self.view, self.panel
        messages = self.messages
        self.composer.submitted.connect(self._send)
        self.composer.stopped.connect(conversation.stop)
        self.composer.edited.connect(self.error.hide)
        conversation.busy_changed.connect(self._busy_changed)
        conversation.refused.connect(self._refused)
        conversation.opened.connect(self._opened)
        conversation.titled.connect(self._titled)
        conversation.saved.connect(panel.refresh)
        conversation.revealed.connect(view.reveal)
        conversation.reply_ended.connect(self._reply_ended)
        for changed in (conversation.transcript.rowsInserted, conversation.transcript.rowsRemoved):
            changed.connect(self._rows_changed)
        view.width_changed.connect(self._align_foot)
        self._explainer.chosen.connect(self.messages.choose)
        panel.chosen.connect(conversation.open)
        panel.new_asked.connect(self._start_anew)
        self.sampling.changed.connect(self._change_settings)
        self.models.models_changed.connect(self.sampling.who.show_models)
        self.models.limits_changed.connect(self.sampling.show_limits)
        self.header.coloring_chosen.connect(self.set_coloring)
        self.header.unsure_button.clicked.connect(messages.next_unsure)
        self.header.list_button.clicked.connect(self.toggle_list)
        self.header.panel_button.clicked.connect(self.toggle_sampling)
        self.archive.noticed.connect(self._store_noticed)
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
                "regenerate": messages.regenerate_last,
                "continue": messages.continue_last,
                "edit": messages.edit_last,
                "export": panel.export_current,
                "import": self.conversations.import_file,
                "previous_version": messages.previous_branch,
                "next_version": messages.next_branch,
                "undo": self.undo_notice.act,
                "next_unsure": messages.next_unsure,
                "previous_unsure": messages.previous_unsure,
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
        elif event.type() == QEvent.Type.FontChange and theme.scale() != self._scale:
            ratio, self._scale = theme.scale() / self._scale, theme.scale()
            sizes = self.splitter.sizes()
            list_width = round(sizes[0] * ratio)
            self.splitter.setSizes([list_width, sizes[1] + sizes[0] - list_width, *sizes[2:]])
            self._make_room()

    def focusInEvent(self, event: QFocusEvent) -> None:
        # No focus proxy: with one, Tab goes from what is before the page straight to the composer
        # and never to what stands between.
        self.composer.edit.setFocus(event.reason())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        """Leave out the side panels that there is no room for."""
        room = (self.width() >= theme.px(_LIST_FROM), self.width() >= theme.px(_SAMPLING_FROM))
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
        self.view.show_coloring(coloring)
        self.header.show_coloring(coloring)

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
        self.messages.stop_editing()
        self.error.hide()
        self._titled()
        self.sampling.show_settings(self.conversation.settings)
        self.models.use(self.conversation.settings.model)
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

    @Slot(object, object, float)
    def _reply_ended(self, conversation: int, message: Message, seconds: float) -> None:
        self.reader.announce(message)

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
        self.sampling.flush()
        if self.messages.send(text):
            self.composer.clear()
            self.save_draft()

    @Slot()
    def save_draft(self) -> None:
        """Keep what is in the composer; an edited older message is no draft."""
        if not self.messages.editing:
            self.conversation.save_draft(self.composer.text())

    @Slot()
    def _escape(self) -> None:
        """Clear the search, stop what runs, give up editing, or close the popover."""
        if self.panel.search.hasFocus() and self.panel.search.text():
            self.panel.search.clear()
        elif self.conversation.busy:
            self.conversation.stop()
        elif self.messages.editing:
            self.messages.stop_editing()
        else:
            self.view.leave_token()

    @Slot(object)
    def _change_settings(self, settings: ChatSettings) -> None:
        self.conversation.change_settings(settings)
        self.models.use(settings.model)

    @Slot()
    def _start_anew(self) -> None:
        self.sampling.flush()
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

    def open_file(self, path: Path) -> None:
        """Import an exported conversation and show it."""
        self.conversations.import_path(path)

    def _tell(self, sentence: str) -> None:
        self.store_notice.show_notice(lambda: sentence)
