"""What is done with messages: edit, branch, regenerate, continue, delete, step through versions."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot

from desktop.triton.types import Alternative
from desktop.ui.composer import Composer
from desktop.ui.conversation import Conversation
from desktop.ui.message_delegate import can_continue
from desktop.ui.message_view import MessageView
from desktop.ui.notice_bar import NoticeBar
from desktop.ui.transcript import Message, Role


class MessageActions(QObject):
    """Between the view, which says which message, and the conversation, which does it.

    An older message is edited, or a reply gone on from, in the composer: sending makes a branch.
    ``keep_draft``: called before the composer is taken for that.
    """

    def __init__(
        self,
        view: MessageView,
        conversation: Conversation,
        composer: Composer,
        notice: NoticeBar,
        keep_draft: Callable[[], None],
    ) -> None:
        super().__init__(view)
        self._view = view
        self._conversation = conversation
        self._composer = composer
        self._notice = notice
        self._keep_draft = keep_draft
        self._editing: Message | None = None
        view.action_asked.connect(self._act)
        notice.acted.connect(self.stop_editing)

    @property
    def editing(self) -> bool:
        """Whether what is in the composer will become a branch."""
        return self._editing is not None

    def send(self, text: str) -> bool:
        """Send the composer's text to where it belongs; whether it was sent."""
        earlier = self._editing
        if earlier is None:
            sent = self._conversation.send(text)
        elif earlier.role is Role.USER:
            sent = self._conversation.edit(earlier, text)
        else:
            sent = self._conversation.send(text, earlier, branch=True)
        if sent:
            self._editing = None
            self._notice.hide()
        return sent

    @Slot()
    def stop_editing(self) -> None:
        if self._editing is not None:
            self._editing = None
            self._notice.hide()
            self._composer.set_text(self._conversation.draft)

    # For the message that keys are about.

    @Slot()
    def regenerate_last(self) -> None:
        if (message := self._current(Role.REPLY)) is not None:
            self._conversation.regenerate(message)

    @Slot()
    def continue_last(self) -> None:
        message = self._current(Role.REPLY)
        if message is not None and can_continue(message):
            self._conversation.continue_reply(message)

    @Slot()
    def edit_last(self) -> None:
        if (message := self._current(Role.USER)) is not None:
            self._take_up(message)

    @Slot()
    def previous_branch(self) -> None:
        self._step_branch(-1)

    @Slot()
    def next_branch(self) -> None:
        self._step_branch(1)

    @Slot()
    def next_unsure(self) -> None:
        self._view.setFocus()
        self._view.step_unsure(1)

    @Slot()
    def previous_unsure(self) -> None:
        self._view.setFocus()
        self._view.step_unsure(-1)

    def _current(self, role: Role) -> Message | None:
        row = self._view.current_row(role)
        return None if row is None else self._conversation.transcript.message(row)

    def _step_branch(self, step: int) -> None:
        """Step through the versions of the message in focus, else of the last one that has any."""
        transcript = self._conversation.transcript
        focus = self._view.focused_row()
        rows = range(transcript.rowCount() - 1, -1, -1)
        for row in [focus] if focus is not None else rows:
            message = transcript.message(row)
            if transcript.branch(message)[1] > 1:
                self._conversation.step_branch(message, step)
                return

    # For a message that was pointed at.

    @Slot(str, int)
    def _act(self, action: str, row: int) -> None:
        conversation = self._conversation
        message = conversation.transcript.message(row)
        if action in ("edit", "branch"):
            self._take_up(message)
        elif action == "previous":
            conversation.step_branch(message, -1)
        elif action == "next":
            conversation.step_branch(message, 1)
        elif action == "regenerate":
            conversation.regenerate(message)
        elif action == "continue":
            conversation.continue_reply(message)
        elif action == "delete":
            conversation.delete_from(message)

    def choose(self, row: int, number: int, alternative: Alternative) -> None:
        """Go on with another token."""
        message = self._conversation.transcript.message(row)
        self._conversation.choose(message, number, alternative)

    def _take_up(self, message: Message) -> None:
        """Have the composer write another version of a message, or of what follows a reply."""
        if self._conversation.busy:
            return
        self._keep_draft()
        self._editing = message
        edited = message.role is Role.USER

        def words() -> str:
            if edited:
                return self.tr(
                    "You are editing an earlier message; sending it begins another version."
                )
            return self.tr(
                "Your message will follow the reply you chose; what follows it now is kept as "
                "another version."
            )

        self._notice.show_notice(words, lambda: self.tr("Cancel"), keys=lambda: self.tr("Esc"))
        self._composer.set_text(message.text if edited else "")
        self._composer.edit.setFocus()
