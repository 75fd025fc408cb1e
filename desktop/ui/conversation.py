"""Sending, answering anew, continuing and stopping; branches, deleting and undoing."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, Signal, Slot

from desktop.launchers.base import ServerState
from desktop.triton.models import chat_models
from desktop.triton.types import Alternative, Finished, Token
from desktop.ui import transcript as rows
from desktop.ui.alternatives import END_TOKEN, choosable, chosen_token
from desktop.ui.archive import Archive
from desktop.ui.conversation_runs import Run
from desktop.ui.conversation_shown import ShownConversation
from desktop.ui.session import ServerSession
from desktop.ui.transcript import Message, Role, Stage


class Conversation(ShownConversation):
    """The conversation on screen, and replies under way in others. Lives on the GUI thread."""

    #: Whether a reply streams anywhere.
    working_changed = Signal(bool)
    #: A reply has ended, on screen or not: the conversation's id, the message, the seconds it took.
    reply_ended = Signal(object, object, float)
    #: A message was not answered: the sentence to show, and the text to give back to the composer.
    refused = Signal(str, str)
    #: Messages were deleted and can be brought back: how many.
    deleted = Signal(int)

    def __init__(
        self, session: ServerSession, archive: Archive, parent: QObject | None = None
    ) -> None:
        super().__init__(session, archive, parent)
        self._undo: tuple[int, list[int]] | None = None
        self.runs.began.connect(self._run_began)
        self.runs.ended.connect(self._run_ended)
        self.runs.came_to_nothing.connect(self._give_back)

    @property
    def working(self) -> bool:
        """Whether a reply streams anywhere."""
        return len(self.runs) > 0

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
        """Another reply beside this one, or to this message of the person's, beginning with the
        tokens of ``kept``."""
        asked = message.id if message.role is Role.USER else message.parent
        if self.busy or asked is None or not self._can_ask():
            return
        reply = Message(Role.REPLY, stage=Stage.WAITING, parent=asked)
        rows.extend(reply, kept or [])
        self._start(self.tree.message(asked), reply)

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
        self.regenerate(message, [*kept, chosen_token(alternative, before)])

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
        model, served = self.settings.model, chat_models(self.session.status.models)
        if model and served and model not in served:
            words = self.tr("The model {0} is not served any more; choose another at the right.")
            self.refused.emit(words.format(model), text)
            return False
        return True

    def _start(self, asked: Message, message: Message, *, fresh: bool = False) -> None:
        assert self.id is not None
        message.model = self.settings.model
        if message.id not in self.tree:
            self.tree.add(message)
            self._keep(message)
        self._show_rows(message)
        run = Run(self.id, self.tree, message, asked, fresh)
        history = self.tree.history(asked, self.settings.history_turns)
        self.runs.start(run, self.settings, history)

    @Slot(object)
    def _run_began(self, run: Run) -> None:
        self.busy_changed.emit(True)
        self.working_changed.emit(True)

    @Slot(object)
    def _run_ended(self, run: Run) -> None:
        self._set_idle(run)
        self.reply_ended.emit(run.conversation, run.message, time.monotonic() - run.began)

    def _set_idle(self, run: Run) -> None:
        if run.tree is self.tree:
            self.busy_changed.emit(False)
        self.working_changed.emit(self.working)
        self.saved.emit(run.conversation)

    def stop(self) -> None:
        """End the computation, not only its display. What has arrived stays."""
        if self.id is not None:
            self.runs.stop(self.id)

    def flush(self) -> None:
        """Take what has arrived by now, for the store if not for the screen."""
        self.runs.flush()

    @Slot(object, str)
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
        elif run.fresh:
            # Another conversation is on screen: the text waits in the composer of its own.
            text = run.asked.text
            self.archive.ask(lambda database: database.give_back(run.conversation, text))

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
