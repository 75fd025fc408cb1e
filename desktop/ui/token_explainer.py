"""When a token's popover comes, stays and goes, and what is chosen in it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, QRect, QTimer, Signal, Slot

from desktop.triton.types import Alternative, Token
from desktop.ui.message_view import MessageView
from desktop.ui.token_popover import TokenPopover

# The way of the mouse from a token to its popover.
_GRACE_MS = 250


class TokenExplainer(QObject):
    """Stands between the view, which knows where a token is, and its popover."""

    #: Another token is chosen: the row, the number of the token from 0, the alternative.
    chosen = Signal(int, int, object)

    def __init__(self, view: MessageView, may_choose: Callable[[], bool]) -> None:
        super().__init__(view)
        #: Made when it is first needed, since it belongs to the whole window.
        self.popover: TokenPopover | None = None
        self._view = view
        self._may_choose = may_choose
        self._timer = QTimer(self, singleShot=True, interval=_GRACE_MS)
        self._timer.timeout.connect(view.leave_token)
        view.token_entered.connect(self._explain)
        view.token_left.connect(self._left)

    @Slot(object, int, QRect)
    def _explain(self, token: Token, number: int, rect: QRect) -> None:
        self._timer.stop()
        window = self._view.window()
        if self.popover is None:
            self.popover = TokenPopover(window)
            self.popover.chosen.connect(self._choose)
            self.popover.reached.connect(self._timer.stop)
            self.popover.left.connect(self._timer.start)
            self._view.alternative_stepped.connect(self.popover.step)
            self._view.alternative_taken.connect(self.popover.take)
        corner = self._view.viewport().mapTo(window, QPoint(0, 0))
        self.popover.show_for(token, number, rect.translated(corner), can_choose=self._may_choose())

    @Slot(bool)
    def _left(self, for_good: bool) -> None:
        if self.popover is None:
            return
        if for_good:
            self._timer.stop()
            self.popover.hide()
        elif self.popover.isVisible() and not self._timer.isActive():
            self._timer.start()

    @Slot(object)
    def _choose(self, alternative: Alternative) -> None:
        focus = self._view.focus_token
        if focus is not None:
            self._view.leave_token()
            self.chosen.emit(*focus, alternative)
