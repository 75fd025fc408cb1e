"""Sending, streaming and stopping, branches and their keeping: what happens between the page and
the server on one side, the store on the other."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from desktop.launchers.base import ServerState
from desktop.store.records import (
    DEFAULT_SETTINGS,
    ChatSettings,
    ConversationInfo,
    StoredConversation,
    new_id,
)
from desktop.store.schema import Notice, NoticeKind
from desktop.store.tree import MessageTree
from desktop.triton.types import Alternative, Finished, ServerUnavailable, Token
from desktop.ui import transcript as rows
from desktop.ui.archive import Archive
from desktop.ui.session import Reply, ServerSession
from desktop.ui.transcript import Message, Role, Stage, Transcript
from desktop.ui.words import error_words

# Tokens that arrive within this time are shown with one repaint.
_FLUSH_MS = 40
# After Stop the stream still answers with its figures; a server that hangs does not.
_STOP_GRACE_S = 0.5
_TITLE_LENGTH = 40
#: How the token that ends a reply is written among the alternatives.
END_TOKEN = "[SEP]"


@dataclass(eq=False)
class Run:
    """A reply that is being computed, shown or not."""

    conversation: int
    tree: MessageTree
    message: Message
    asked: Message
    #: Whether ``asked`` was sent for this run, so that its text goes back if no reply comes.
    fresh: bool
    #: How many tokens the reply had before.
    kept: int
    reply: Reply
    stop_deadline: float | None = None
    began: float = field(default_factory=time.monotonic)


class Conversation(QObject):
    """The conversation on screen, and replies under way in others. Lives on the GUI thread."""

    busy_changed = Signal(bool)
    #: Whether a reply streams anywhere.
    working_changed = Signal(bool)
    #: A reply has ended, on screen or not: the conversation's id, the message, the seconds it took.
    reply_ended = Signal(object, object, float)
    #: A message was not answered: the sentence to show, and the text to give back to the composer.
    refused = Signal(str, str)
    #: Another conversation is on screen.
    opened = Signal()
    #: The conversation on screen has another title, or was begun.
    titled = Signal()
    #: The list's row of a conversation changed: its id.
    saved = Signal(object)
    #: Messages were deleted and can be brought back: how many.
    deleted = Signal(int)
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
        self.tree = MessageTree()
        self.transcript = Transcript(self)
        self._runs: dict[int, Run] = {}
        self._opening: int | None = None
        self._loading: set[int] = set()
        self._undo: tuple[int, list[int]] | None = None
        self._flush_timer = QTimer(self, interval=_FLUSH_MS)
        self._flush_timer.timeout.connect(self._flush)
        self.transcript.tokens_wanted.connect(self._load_tokens)
        archive.noticed.connect(self._store_changed)

    @property
    def busy(self) -> bool:
        """Whether a reply streams into what is on screen."""
        return self.id in self._runs

    @property
    def working(self) -> bool:
        """Whether a reply streams anywhere."""
        return bool(self._runs)

    # Which conversation is on screen.

    def open(self, conversation: int, message: int | None = None) -> None:
        """Show a stored conversation, and the branch of ``message`` where one is given."""
        if conversation == self.id:
            self._opening = None
            if message is not None:
                self._show_branch(message)
            return
        self._opening = conversation
        run = self._runs.get(conversation)

        def show(stored: StoredConversation | None) -> None:
            if stored is not None and self._opening == conversation:
                self._opening = None
                tree = run.tree if run else MessageTree(stored.messages, stored.active_root)
                self._show(stored, tree)
                if message is not None:
                    self._show_branch(message)

        self.archive.ask(lambda database: database.load(conversation), show)

    def new(self) -> None:
        """Begin another conversation; it is kept from its first message on."""
        self._opening = None
        self._leave()
        self.tree = MessageTree()
        self.transcript.show_tree(self.tree)
        self._arrive()

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

    # Asking for replies.

    def send(self, text: str, parent: Message | None = None, *, branch: bool = False) -> bool:
        """Ask for a reply. False, with :attr:`refused` emitted, when there is nothing to send.

        ``branch``: put the message below ``parent``, beside what is there, instead of at the end.
        """
        if self.busy:
            return False
        if not text.strip():
            self.refused.emit(self.tr("Type a message first."), text)
            return False
        if not self._can_ask(text):
            return False
        self._opening = None
        if not branch:
            path = self.tree.path()
            parent = path[-1] if path else None
        asked = Message(Role.USER, text.strip(), parent=parent.id if parent else None)
        self.tree.add(asked)
        if self.id is None:
            self._create(asked.text)
        self._keep(asked)
        self._start(asked, Message(Role.REPLY, stage=Stage.WAITING, parent=asked.id), fresh=True)
        return True

    def regenerate(self, message: Message, kept: list[Token] | None = None) -> None:
        """Another reply beside this one, beginning with the tokens of ``kept``."""
        if self.busy or message.parent is None or not self._can_ask():
            return
        reply = Message(Role.REPLY, stage=Stage.WAITING, parent=message.parent)
        rows.extend(reply, kept or [])
        self._start(self.tree.message(message.parent), reply)

    def continue_reply(self, message: Message) -> None:
        """Go on with a reply that broke off, in place."""
        if self.busy or message.parent is None or not self._can_ask():
            return
        parent = message.parent

        def go_on(tokens: list[Token]) -> None:
            if self.busy or message.id not in self.tree:
                return
            message.tokens, message.tokens_loaded = tokens, True
            message.stage, message.finished, message.error = Stage.STREAMING, None, ""
            self._start(self.tree.message(parent), message)

        if message.tokens_loaded:
            go_on(message.tokens)
        else:
            self.archive.ask(lambda database: database.tokens(message.id), go_on)

    def choose(self, message: Message, number: int, alternative: Alternative) -> None:
        """Another reply that takes ``alternative`` at the token ``number`` (from 0)."""
        if self.busy or not choosable(alternative):
            return
        kept = message.tokens[:number]
        before = message.tokens[number]
        if alternative.text == END_TOKEN:
            if kept and message.parent is not None:
                self._end_here(message, kept)
            return
        # Nobody drew it, so that it has no confidence.
        chosen = Token(
            alternative.text,
            alternative.token_id,
            math.nan,
            alternative.probability,
            before.alternatives,
        )
        self.regenerate(message, [*kept, chosen])

    def _end_here(self, message: Message, kept: list[Token]) -> None:
        reply = Message(Role.REPLY, parent=message.parent)
        rows.extend(reply, kept)
        rows.end(reply, Finished("stop", reply.text, len(kept), 0, None, None))
        self.tree.add(reply)
        self._keep(reply)
        self._show_rows(reply)

    def edit(self, message: Message, text: str) -> bool:
        """Send another message instead of a user's ``message``, as a branch."""
        parent = self.tree.message(message.parent) if message.parent is not None else None
        return self.send(text, parent, branch=True)

    def _can_ask(self, text: str = "") -> bool:
        if self.session.status.state in (ServerState.STOPPED, ServerState.FAILED):
            words = self.tr("The server is not running; see the server page.")
            self.refused.emit(words, text)
            return False
        return True

    def _start(self, asked: Message, message: Message, *, fresh: bool = False) -> None:
        assert self.id is not None
        if message.id not in self.tree:
            self.tree.add(message)
            self._keep(message)
        self._show_rows(message)
        run = Run(self.id, self.tree, message, asked, fresh, len(message.tokens), Reply())
        self._runs[self.id] = run
        run.reply = self.session.chat(
            asked.text,
            self.tree.history(asked, self.settings.history_turns),
            self.settings.sampling,
            reply_prefix=message.text,
            succeeded=lambda _: self._succeeded(run),
            failed=lambda error: self._failed(run, error),
        )
        self._flush_timer.start()
        self.busy_changed.emit(True)
        self.working_changed.emit(True)

    def _show_rows(self, message: Message) -> None:
        """Bring the screen up to date with the tree; counts of branches may have changed."""
        for sibling in self.tree.siblings(message):
            sibling.revision += 1
        self.transcript.show_tree(self.tree)
        row = self.transcript.row_of(message)
        if row is not None:
            self.transcript.touch(row)

    def stop(self) -> None:
        """End the computation, not only its display. What has arrived stays."""
        run = self._runs.get(self.id) if self.id is not None else None
        if run is not None:
            self._stop(run)

    def _stop(self, run: Run) -> None:
        if run.stop_deadline is not None:
            return
        self._take(run)
        if self._runs.get(run.conversation) is not run:
            return
        assert run.reply.task is not None
        self.session.cancel(run.reply.task)
        run.stop_deadline = time.monotonic() + _STOP_GRACE_S
        if not run.message.tokens:
            self._give_back(run, self.tr("Stopped before the reply began."))

    # What arrives.

    def flush(self) -> None:
        """Take what has arrived by now, for the store if not for the screen."""
        self._flush()

    @Slot()
    def _flush(self) -> None:
        for run in list(self._runs.values()):
            self._take(run)

    def _take(self, run: Run) -> None:
        if self._runs.get(run.conversation) is not run:
            return
        events = run.reply.take()
        tokens = [event for event in events if isinstance(event, Token)]
        finished = next((event for event in events if isinstance(event, Finished)), None)
        message = run.message
        if tokens:
            self.archive.append_tokens(message.id, len(message.tokens), tokens)
            row = self.transcript.row_of(message)
            if row is not None:
                self.transcript.extend_reply(row, tokens)
            else:
                rows.extend(message, tokens)
        if finished is not None:
            self._end(run, finished)
        elif run.stop_deadline is not None and time.monotonic() > run.stop_deadline:
            self._end(run, Finished("cancelled", "", 0, 0, None, None))

    def _end(self, run: Run, finished: Finished | None, error: str = "") -> None:
        message = run.message
        if finished is not None:
            # The figures are those of the whole reply, also where it was computed in two goes.
            finished = replace(
                finished,
                reply=message.text,
                tokens=len(message.tokens),
                num_input_tokens=max(0, finished.num_input_tokens - run.kept),
            )
        row = self.transcript.row_of(message)
        if row is not None:
            self.transcript.end_reply(row, finished, error)
        else:
            rows.end(message, finished, error)
        snapshot = replace(message, tokens=[])
        self.archive.ask(lambda database: database.end_message(snapshot))
        self._set_idle(run)
        self.reply_ended.emit(run.conversation, message, time.monotonic() - run.began)

    def _set_idle(self, run: Run) -> None:
        del self._runs[run.conversation]
        if not self._runs:
            self._flush_timer.stop()
        if run.tree is self.tree:
            self.busy_changed.emit(False)
        self.working_changed.emit(self.working)
        self.saved.emit(run.conversation)

    def _give_back(self, run: Run, sentence: str) -> None:
        """Undo what got no reply: the message's text goes back to the composer, or the branch that
        was shown before is shown again."""
        gone = run.asked if run.fresh else run.message
        run.tree.remove(gone)
        self.archive.ask(lambda database: database.remove_message(gone.id))
        if run.tree is self.tree:
            self.transcript.show_tree(self.tree)
            for row in range(self.transcript.rowCount()):
                self.transcript.message(row).revision += 1
            if len(self.tree) == 0 and self.id is not None:
                self._forget_empty(self.id)
        self._set_idle(run)
        if run.tree is self.tree:
            self.refused.emit(sentence, run.asked.text if run.fresh else "")

    def _succeeded(self, run: Run) -> None:
        self._take(run)
        if self._runs.get(run.conversation) is run:  # a stream that ended without its Finished
            self._failed(run, ServerUnavailable("the reply broke off"))

    def _failed(self, run: Run, error: Exception) -> None:
        self._take(run)
        if self._runs.get(run.conversation) is not run:
            return
        if run.message.tokens:
            self._end(run, None, error_words(error))
        else:
            self._give_back(run, error_words(error))

    # Branches.

    def step_branch(self, message: Message, step: int) -> None:
        """Show the branch beside ``message``."""
        siblings = self.tree.siblings(message)
        place = siblings.index(message) + step
        if self.busy or self.id is None or not 0 <= place < len(siblings):
            return
        other = siblings[place]
        self.tree.activate(other)
        self._save_active(other)
        self._show_rows(other)
        self._reveal(other)

    def _save_active(self, message: Message) -> None:
        conversation, parent = self.id, message.parent
        assert conversation is not None
        self.archive.ask(lambda database: database.activate(conversation, parent, message.id))

    def delete_from(self, message: Message) -> None:
        """Delete a message and what follows it on every branch; :meth:`undo_delete` undoes it."""
        if self.busy or self.id is None or message.id not in self.tree:
            return
        siblings = [each for each in self.tree.siblings(message) if each is not message]
        ids = [each.id for each in self.tree.remove(message)]
        self._undo = (self.id, ids)
        self.archive.ask(lambda database: database.delete_messages(ids))
        shown = next((each for each in self.tree.path() if each in siblings), None)
        if shown is not None:
            self._save_active(shown)
            self._show_rows(shown)
        else:
            self.transcript.show_tree(self.tree)
        self.saved.emit(self.id)
        self.deleted.emit(len(ids))

    def undo_delete(self) -> None:
        if self._undo is None:
            return
        (conversation, ids), self._undo = self._undo, None
        if self.busy:
            return

        def restore(_: None) -> None:
            if conversation == self.id:
                self.id = None  # so that it is read anew
            self.open(conversation, ids[0])
            self.saved.emit(conversation)

        self.archive.ask(lambda database: database.restore_messages(ids), restore)

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

    def _create(self, first: str) -> None:
        now = time.time()
        title = " ".join(first.split())[:_TITLE_LENGTH]
        info = ConversationInfo(new_id(), title, created=now, updated=now)
        settings = self.settings
        self.id, self.title = info.id, title
        self.archive.ask(lambda database: database.create(info, settings))
        self.archive.ask(lambda database: database.save_setting("conversation", info.id))
        self.archive.ask(lambda database: database.save_setting("draft", ""))
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


def choosable(alternative: Alternative) -> bool:
    """Whether a reply can go on with it: special tokens have no text, except the end."""
    text = alternative.text
    special = len(text) > 1 and text.startswith("[") and text.endswith("]")
    return bool(text) and (not special or text == END_TOKEN)
