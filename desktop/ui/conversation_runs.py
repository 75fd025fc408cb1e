"""Replies under way: their tokens go to the screen and into the store, whatever is on screen."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from desktop.store.records import ChatSettings, opening_turns
from desktop.store.tree import MessageTree
from desktop.triton.types import Finished, ServerUnavailable, Token
from desktop.ui import transcript as rows
from desktop.ui.archive import Archive
from desktop.ui.session import Reply, ServerSession
from desktop.ui.transcript import Message, Transcript
from desktop.ui.words import error_words

# Tokens that arrive within this time are shown with one repaint.
_FLUSH_MS = 40
# After Stop the stream still answers with its figures; a server that hangs does not.
_STOP_GRACE_S = 0.5


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
    kept: int = 0
    reply: Reply = field(default_factory=Reply)
    stop_deadline: float | None = None
    began: float = field(default_factory=time.monotonic)


class ReplyRuns(QObject):
    """At most one run a conversation. Lives on the GUI thread."""

    began = Signal(object)
    #: A reply has ended, with its figures or an error; it is kept already.
    ended = Signal(object)
    #: No token came: the run, and the sentence that says why.
    came_to_nothing = Signal(object, str)

    def __init__(
        self,
        session: ServerSession,
        archive: Archive,
        transcript: Transcript,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._archive = archive
        self._transcript = transcript
        self._runs: dict[int, Run] = {}
        self._timer = QTimer(self, interval=_FLUSH_MS)
        self._timer.timeout.connect(self.flush)

    def __len__(self) -> int:
        return len(self._runs)

    def of(self, conversation: int | None) -> Run | None:
        return self._runs.get(conversation) if conversation is not None else None

    def start(self, run: Run, settings: ChatSettings, history: Sequence[str]) -> None:
        run.kept = len(run.message.tokens)
        self._runs[run.conversation] = run
        run.reply = self._session.chat(
            run.asked.text,
            history,
            settings.sampling,
            model=settings.model,
            reply_prefix=run.message.text,
            opening=opening_turns(settings.persona),
            succeeded=lambda _: self._succeeded(run),
            failed=lambda error: self._failed(run, error),
        )
        self._timer.start()
        self.began.emit(run)

    def stop(self, conversation: int) -> None:
        """End the computation, not only its display. What has arrived stays."""
        run = self._runs.get(conversation)
        if run is None or run.stop_deadline is not None:
            return
        self._take(run)
        if not self._is_under_way(run):
            return
        assert run.reply.task is not None
        self._session.cancel(run.reply.task)
        run.stop_deadline = time.monotonic() + _STOP_GRACE_S
        if not run.message.tokens:
            self._forget(run)
            self.came_to_nothing.emit(run, self.tr("Stopped before the reply began."))

    @Slot()
    def flush(self) -> None:
        """Take what has arrived by now, for the store if not for the screen."""
        for run in list(self._runs.values()):
            self._take(run)

    def _is_under_way(self, run: Run) -> bool:
        return self._runs.get(run.conversation) is run

    def _take(self, run: Run) -> None:
        if not self._is_under_way(run):
            return
        events = run.reply.take()
        tokens = [event for event in events if isinstance(event, Token)]
        finished = next((event for event in events if isinstance(event, Finished)), None)
        message = run.message
        if tokens:
            self._archive.append_tokens(message.id, len(message.tokens), tokens)
            row = self._transcript.row_of(message)
            if row is not None:
                self._transcript.extend_reply(row, tokens)
            else:
                rows.extend(message, tokens)
        if finished is not None:
            self._end(run, finished)
        elif run.stop_deadline is not None and time.monotonic() > run.stop_deadline:
            self._end(run, Finished.cancelled())

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
        row = self._transcript.row_of(message)
        if row is not None:
            self._transcript.end_reply(row, finished, error)
        else:
            rows.end(message, finished, error)
        snapshot = replace(message, tokens=[])
        self._archive.ask(lambda database: database.end_message(snapshot))
        self._forget(run)
        self.ended.emit(run)

    def _forget(self, run: Run) -> None:
        del self._runs[run.conversation]
        if not self._runs:
            self._timer.stop()

    def _succeeded(self, run: Run) -> None:
        self._take(run)
        if self._is_under_way(run):  # a stream that ended without its Finished
            self._failed(run, ServerUnavailable("the reply broke off"))

    def _failed(self, run: Run, error: Exception) -> None:
        self._take(run)
        if not self._is_under_way(run):
            return
        if run.message.tokens:
            self._end(run, None, error_words(error))
        else:
            self._forget(run)
            self.came_to_nothing.emit(run, error_words(error))
