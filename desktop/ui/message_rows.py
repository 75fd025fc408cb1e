"""The virtual list under the message view: rows are laid out when they come into sight.

A view of its own rather than a QListView: a streaming reply changes its height many times a second,
and QListView would ask every row for its size each time.
"""

from __future__ import annotations

from collections import OrderedDict

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, QRect, Qt, Signal, Slot
from PySide6.QtGui import QRegion, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from desktop.ui.coloring import Coloring
from desktop.ui.message_delegate import MessageDelegate
from desktop.ui.message_layout import MessageLayout, estimate_height
from desktop.ui.row_stack import RowStack
from desktop.ui.transcript import AnyIndex, Message, Transcript

_KEPT_LAYOUTS = 64
_BOTTOM_PAD = 16
# What was brought into sight stands this far from the edge, in pixels.
_MARGIN = 16


class MessageRows(QAbstractItemView):
    """Rows of a :class:`Transcript` and where they are. Stays at the end while a reply grows,
    unless scrolled away."""

    #: The text column moved: the viewport's new width.
    width_changed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # Before anything that makes the base class ask for geometry.
        self.rows = RowStack()
        self._layouts: OrderedDict[int, MessageLayout] = OrderedDict()
        self._at_end = True
        self._settling = False
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.delegate = MessageDelegate(self)
        self.setItemDelegate(self.delegate)
        self.verticalScrollBar().setSingleStep(24)

    def rows_moved(self) -> None:
        """What was at a place of the viewport may not be there any more."""

    def rows_gone(self) -> None:
        """Positions in rows may lead nowhere."""

    # The model.

    def transcript(self) -> Transcript:
        model = self.model()
        assert isinstance(model, Transcript)
        return model

    def set_transcript(self, transcript: Transcript) -> None:
        self.setModel(transcript)
        transcript.rowsInserted.connect(self._rows_added)
        transcript.rowsRemoved.connect(self._rows_gone)
        transcript.dataChanged.connect(self._row_changed)
        self.forget_layouts()

    @Slot(QModelIndex, int, int)
    def _rows_added(self, parent: QModelIndex, first: int, last: int) -> None:
        added = self.transcript().messages()[first : last + 1]
        self.rows.insert(first, [self._estimate(message) for message in added])
        self._at_end = True
        self.rows_moved()
        self._settle()

    @Slot(QModelIndex, int, int)
    def _rows_gone(self, parent: QModelIndex, first: int, last: int) -> None:
        self.rows.remove(first, last)
        self.rows_gone()
        self.rows_moved()
        self._settle()

    @Slot(QModelIndex, QModelIndex)
    def _row_changed(self, top_left: QModelIndex, bottom_right: QModelIndex) -> None:
        for row in range(top_left.row(), bottom_right.row() + 1):
            # Out of sight the estimate must do until somebody scrolls there.
            message = self.transcript().message(row)
            self.rows.estimate(row, self._estimate(message))
        self._settle(top_left.row() if top_left == bottom_right else None)

    def forget_layouts(self) -> None:
        """Measure anew: another width, font or language."""
        messages = self.transcript().messages() if self.model() is not None else ()
        self._layouts.clear()
        self.rows.reset([self._estimate(message) for message in messages])
        self._settle()

    def show_coloring(self, coloring: Coloring) -> None:
        self.delegate.coloring = coloring
        self.forget_layouts()

    # Geometry.

    def _layout(self, row: int) -> MessageLayout:
        message = self.transcript().message(row)
        width = self.viewport().width()
        layout = self._layouts.get(message.id)
        if layout is None or layout.revision != message.revision or layout.width != width:
            branch = self.transcript().branch(message)
            layout = self.delegate.lay_out(message, width, branch)
            self._layouts[message.id] = layout
            while len(self._layouts) > _KEPT_LAYOUTS:
                self._layouts.popitem(last=False)
        self._layouts.move_to_end(message.id)
        if not message.tokens_loaded:
            self.transcript().tokens_wanted.emit(message)
        return layout

    def _estimate(self, message: Message) -> int:
        width = self.viewport().width()
        return estimate_height(message, width, chart=self.delegate.coloring.charted)

    def _measure(self, row: int) -> None:
        if not self.rows.is_measured(row):
            self.rows.measure(row, self._layout(row).height)

    def _settle(self, changed: int | None = None) -> None:
        """Measure what is in sight and set the scroll bar, so that nothing in sight jumps.

        ``changed`` is the only row to paint anew if nothing else moved.
        """
        if self._settling:
            return
        self._settling = True
        bar = self.verticalScrollBar()
        before = bar.value()
        try:
            if self._at_end:
                self._settle_at_end()
            else:
                # Measured heights may bring other rows into sight; they settle at once or the
                # next scroll sees to them.
                for _ in range(3):
                    if not self._settle_in_place():
                        break
        finally:
            self._settling = False
        if bar.value() != before:
            self.rows_moved()
        elif changed is not None:
            self.viewport().update(self._row_rect(changed))
            return
        self.viewport().update()

    def _settle_at_end(self) -> None:
        bar, view = self.verticalScrollBar(), self.viewport().height()
        seen, row = 0, len(self.rows)
        while row > 0 and seen < view:
            row -= 1
            self._measure(row)
            seen += self.rows.height(row)
        self.rows.stack()
        self._set_range(self.rows.total + _BOTTOM_PAD - view)
        bar.setValue(bar.maximum())

    def _settle_in_place(self) -> bool:
        """Measure the rows in sight; whether any was not measured before."""
        bar, view, rows = self.verticalScrollBar(), self.viewport().height(), len(self.rows)
        top = bar.value()
        row = self.rows.at(top)
        # The first row in sight whose height is known keeps its place.
        held = row
        while held < rows - 1 and not self.rows.is_measured(held):
            held += 1
        offset = self.rows.top(held) - top if rows else 0
        y, found = self.rows.top(max(row, 0)), False
        while row < rows and y < top + view:
            found = found or not self.rows.is_measured(row)
            self._measure(row)
            y += self.rows.height(row)
            row += 1
        self.rows.stack()
        self._set_range(self.rows.total + _BOTTOM_PAD - view)
        if rows:
            bar.setValue(self.rows.top(held) - offset)
        return found

    def _set_range(self, maximum: int) -> None:
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, maximum))
        bar.setPageStep(self.viewport().height())

    def _row_rect(self, row: int) -> QRect:
        top = self.rows.top(row) - self.verticalScrollBar().value()
        return QRect(0, top, self.viewport().width(), self.rows.height(row))

    # What QAbstractItemView asks of a view.

    def visualRect(self, index: AnyIndex) -> QRect:
        row = index.row()
        return self._row_rect(row) if 0 <= row < len(self.rows) else QRect()

    def scrollTo(
        self,
        index: AnyIndex,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        self.reveal(index.row())

    def indexAt(self, point: QPoint) -> QModelIndex:
        y = point.y() + self.verticalScrollBar().value()
        if not self.rows or not 0 <= y < self.rows.total:
            return QModelIndex()
        return self.model().index(self.rows.at(y), 0)

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        return self.currentIndex()

    def horizontalOffset(self) -> int:
        return 0

    def verticalOffset(self) -> int:
        return self.verticalScrollBar().value()

    def isIndexHidden(self, index: AnyIndex) -> bool:
        return False

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """Text is selected here, not rows."""

    def visualRegionForSelection(self, selection: object) -> QRegion:
        return QRegion()

    def updateGeometries(self) -> None:
        super().updateGeometries()
        self._settle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.forget_layouts()
            self.width_changed.emit(event.size().width())
        else:
            self._settle()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        if not self._settling:
            bar = self.verticalScrollBar()
            self._at_end = bar.value() >= bar.maximum()
            self.rows_moved()
            self._settle()
        self.viewport().update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.LanguageChange, QEvent.Type.FontChange):
            self.forget_layouts()

    def reveal_within(self, row: int, rect: QRect) -> None:
        """Bring a part of a row into sight; ``rect``: where it is in the viewport now."""
        before = self._row_rect(row).top()
        if not self.rows.is_measured(row) or not self.viewport().rect().intersects(rect):
            self.reveal(row)
        rect = rect.translated(0, self._row_rect(row).top() - before)
        bar, view = self.verticalScrollBar(), self.viewport().height()
        if rect.top() < _MARGIN:
            bar.setValue(bar.value() + rect.top() - _MARGIN)
        elif rect.bottom() > view - _MARGIN:
            bar.setValue(bar.value() + rect.bottom() - view + _MARGIN)

    def reveal(self, row: int) -> None:
        """Bring a row into sight, whole or from its top, and stay there."""
        if not 0 <= row < len(self.rows):
            return
        view, bar = self.viewport().height(), self.verticalScrollBar()
        shown = self._row_rect(row)
        if self.rows.is_measured(row) and shown.top() >= 0 and shown.bottom() <= view:
            return
        self._settling = True
        try:
            # What comes into sight is measured first: where it will be must not depend on guesses.
            seen, at = 0, row
            while at < len(self.rows) and seen < view:
                self._measure(at)
                seen += self.rows.height(at)
                at += 1
            self.rows.stack()
            self._set_range(self.rows.total + _BOTTOM_PAD - view)
            bar.setValue(self.rows.top(row))
        finally:
            self._settling = False
        self._at_end = bar.value() >= bar.maximum()
        self.rows_moved()
        self._settle()
