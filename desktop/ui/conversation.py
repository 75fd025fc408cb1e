"""Sending, streaming and stopping: what happens between the composer and the transcript."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from desktop.launchers.base import ServerState
from desktop.triton.types import Finished, Sampling, ServerUnavailable, Token
from desktop.ui.session import Reply, ServerSession
from desktop.ui.transcript import Message, Role, Stage, Transcript
from desktop.ui.words import error_words

# Tokens that arrive within this time are shown with one repaint.
_FLUSH_MS = 40
# After Stop the stream still answers with its figures; a server that hangs does not.
_STOP_GRACE_S = 0.5
# The original model looks at the last five utterances: two exchanges and the new message.
_HISTORY_TURNS = 2


class Conversation(QObject):
    """One conversation with the chat model. Lives on the GUI thread and never blocks it."""

    busy_changed = Signal(bool)
    #: A message was not answered: the sentence to show, and the text to give back to the composer.
    refused = Signal(str, str)

    def __init__(self, session: ServerSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        #: ``None`` leaves every parameter to the model.
        self.sampling: Sampling | None = None
        self.transcript = Transcript(self)
        self._reply: Reply | None = None
        self._row = -1
        self._stop_deadline: float | None = None
        self._flush_timer = QTimer(self, interval=_FLUSH_MS)
        self._flush_timer.timeout.connect(self._flush)

    @property
    def busy(self) -> bool:
        return self._reply is not None

    def send(self, text: str) -> bool:
        """Ask for a reply. False, with :attr:`refused` emitted, when there is nothing to send."""
        if self.busy:
            return False
        if not text.strip():
            self.refused.emit(self.tr("Type a message first."), text)
            return False
        if self.session.status.state in (ServerState.STOPPED, ServerState.FAILED):
            words = self.tr("The server is not running; see the server page.")
            self.refused.emit(words, text)
            return False
        history = self.transcript.history(_HISTORY_TURNS)
        self.transcript.append(
            Message(Role.USER, text.strip()), Message(Role.REPLY, stage=Stage.WAITING)
        )
        self._row = self.transcript.rowCount() - 1
        self._stop_deadline = None
        self._reply = self.session.chat(
            text.strip(),
            history,
            self.sampling,
            succeeded=self._succeeded,
            failed=self._failed,
        )
        self._flush_timer.start()
        self.busy_changed.emit(True)
        return True

    def stop(self) -> None:
        """End the computation, not only its display. What has arrived stays."""
        if self._reply is None or self._stop_deadline is not None:
            return
        self._flush()
        if self._reply is None:
            return
        assert self._reply.task is not None
        self.session.cancel(self._reply.task)
        self._stop_deadline = time.monotonic() + _STOP_GRACE_S
        if not self.transcript.message(self._row).tokens:
            self._give_back(self.tr("Stopped before the reply began."))

    def start_anew(self) -> None:
        """Draw a line: what is above it is no longer given to the model."""
        rows = self.transcript.rowCount()
        if not self.busy and rows and self.transcript.message(rows - 1).role is not Role.BREAK:
            self.transcript.append(Message(Role.BREAK))

    @Slot()
    def _flush(self) -> None:
        if self._reply is None:
            return
        events = self._reply.take()
        tokens = [event for event in events if isinstance(event, Token)]
        finished = next((event for event in events if isinstance(event, Finished)), None)
        if tokens:
            self.transcript.extend_reply(self._row, tokens)
        if finished is not None:
            self._end(finished)
        elif self._stop_deadline is not None and time.monotonic() > self._stop_deadline:
            message = self.transcript.message(self._row)
            self._end(Finished("cancelled", message.text, len(message.tokens), 0, None, None))

    def _end(self, finished: Finished | None, error: str = "") -> None:
        self.transcript.end_reply(self._row, finished, error)
        self._set_idle()

    def _set_idle(self) -> None:
        self._reply = None
        self._stop_deadline = None
        self._flush_timer.stop()
        self.busy_changed.emit(False)

    def _give_back(self, sentence: str) -> None:
        """Undo a message that got no reply, and hand its text to the composer."""
        text = self.transcript.message(self._row - 1).text
        self.transcript.remove_from(self._row - 1)
        self._set_idle()
        self.refused.emit(sentence, text)

    def _succeeded(self, _: object) -> None:
        self._flush()
        if self._reply is not None:  # a stream that ended without its Finished
            self._failed(ServerUnavailable("the reply broke off"))

    def _failed(self, error: Exception) -> None:
        self._flush()
        if self._reply is None:
            return
        if self.transcript.message(self._row).tokens:
            self._end(None, error_words(error))
        else:
            self._give_back(error_words(error))
