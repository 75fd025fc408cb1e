"""The conversations at the left of the chat page: begin, search, open, rename, pin, delete."""

from __future__ import annotations

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop.ui import theme
from desktop.ui.archive import Archive
from desktop.ui.controls import label, primary_button
from desktop.ui.conversation_model import ROW_ROLE, ConversationModel, Entry
from desktop.ui.icons import icon
from desktop.ui.transcript import AnyIndex

_WIDTH = 248
_NARROWEST = 180
_WIDEST = 420
_HEADING = 32
_ENTRY = 56
_SEARCH_MS = 150
_REFRESH_MS = 100


class ConversationDelegate(QStyledItemDelegate):
    """Title and last line on a card; headings as small words."""

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        tall = _ENTRY if isinstance(index.data(ROW_ROLE), Entry) else _HEADING
        return QSize(0, theme.px(tall))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        look = theme.current()
        row = index.data(ROW_ROLE)
        area: QRect = option.rect.adjusted(10, 0, -10, 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if not isinstance(row, Entry):
            painter.setFont(theme.font("small"))
            painter.setPen(look.color("text_2"))
            painter.drawText(area.adjusted(0, 8, 0, 0), flags, str(index.data()))
            painter.restore()
            return
        state: QStyle.StateFlag = option.state
        card = QRectF(option.rect).adjusted(0.5, 1.5, -0.5, -1.5)
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        focused = bool(state & QStyle.StateFlag.State_HasFocus)
        if chosen or hovered or focused:
            painter.setPen(QPen(look.color("focus"), 1) if focused else Qt.PenStyle.NoPen)
            painter.setBrush(look.color("accent_soft" if chosen else "sunken"))
            painter.drawRoundedRect(card, theme.radius("card"), theme.radius("card"))
        elide = Qt.TextElideMode.ElideRight
        painter.setFont(theme.font())
        painter.setPen(look.color("text"))
        title = painter.fontMetrics().elidedText(row.info.title, elide, area.width())
        painter.drawText(
            QRect(area.left(), area.top() + theme.px(6), area.width(), theme.px(24)), flags, title
        )
        painter.setFont(theme.font("small"))
        painter.setPen(look.color("text_2"))
        line = painter.fontMetrics().elidedText(" ".join(row.line.split()), elide, area.width())
        painter.drawText(
            QRect(area.left(), area.top() + theme.px(29), area.width(), theme.px(20)), flags, line
        )
        painter.restore()

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: AnyIndex
    ) -> QWidget:
        editor = QLineEdit(parent)
        editor.setObjectName("rename")
        editor.setAccessibleName(self.tr("Title"))
        return editor

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: AnyIndex
    ) -> None:
        editor.setGeometry(option.rect.adjusted(2, theme.px(8), -2, -theme.px(8)))


class ConversationList(QListView):
    """Keys: Enter opens, F2 renames, Delete deletes."""

    rename_asked = Signal(QModelIndex)
    delete_asked = Signal(QModelIndex)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.key() == Qt.Key.Key_F2 and index.isValid():
            self.rename_asked.emit(index)
        elif event.key() == Qt.Key.Key_Delete and index.isValid():
            self.delete_asked.emit(index)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
            self.activated.emit(index)
        else:
            super().keyPressEvent(event)


class ConversationPanel(QFrame):
    #: A conversation to show, and the message in it (None: where it was).
    chosen = Signal(object, object)
    new_asked = Signal()
    renamed = Signal(object, str)
    pinned = Signal(object, bool)
    deleted = Signal(object, str)
    export_asked = Signal(object)
    import_asked = Signal()

    def __init__(self, archive: Archive, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panelLeft")
        theme.fit(self, min_width=_NARROWEST, max_width=_WIDEST)
        self.new_button = primary_button(self)
        theme.fit(self.new_button, icon=16)
        self.more = QToolButton(self)
        self.more.setObjectName("toggle")
        theme.fit(self.more, icon=18, width=32, height=32)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.more)
        self.export_action = menu.addAction("")
        self.import_action = menu.addAction("")
        self.more.setMenu(menu)
        self.search = QLineEdit(self)
        self.search.setObjectName("search")
        self.search.setClearButtonEnabled(True)
        self.model = ConversationModel(archive, self)
        self.list = ConversationList(self)
        self.list.setObjectName("conversations")
        self.list.setModel(self.model)
        self.list.setItemDelegate(ConversationDelegate(self.list))
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.nothing = label(self, "empty", wrap=True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.nothing.setContentsMargins(8, 24, 8, 0)
        self.nothing.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 11, 8)
        column.setSpacing(8)
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self.new_button, 1)
        top.addWidget(self.more)
        column.addLayout(top)
        column.addWidget(self.search)
        column.addWidget(self.nothing)
        column.addWidget(self.list, 1)
        self._current: int | None = None
        self._open_pending = False
        self._search_timer = QTimer(self, singleShot=True, interval=_SEARCH_MS)
        self._search_timer.timeout.connect(self._search)
        self._refresh_timer = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._refresh_timer.timeout.connect(self.model.refresh)

        self.new_button.clicked.connect(self.new_asked)
        self.export_action.triggered.connect(self.export_current)
        self.import_action.triggered.connect(self.import_asked)
        self.search.textChanged.connect(self._typed)
        self.search.returnPressed.connect(self._open_first)
        self.search.installEventFilter(self)
        self.list.clicked.connect(self._open)
        self.list.activated.connect(self._open)
        self.list.rename_asked.connect(self.list.edit)
        self.list.delete_asked.connect(self._delete)
        self.list.customContextMenuRequested.connect(self._show_menu)
        self.model.renamed.connect(self.renamed)
        self.model.loaded.connect(self._loaded)
        self.retranslate()
        self._tint()
        self.model.refresh()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(_WIDTH), super().sizeHint().height())

    def refresh(self) -> None:
        """Read the list anew, soon and once for many changes."""
        self._refresh_timer.start()

    def set_current(self, conversation: int | None) -> None:
        """Mark the conversation on screen."""
        self._current = conversation
        self.export_action.setEnabled(conversation is not None)
        self._mark_current()

    def focus_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def rename_current(self) -> None:
        """Edit the title of the conversation on screen."""
        if self._current is not None:
            index = self.model.entry(self._current)
            if index.isValid():
                self.list.scrollTo(index)
                self.list.edit(index)

    @Slot()
    def export_current(self) -> None:
        """Ask for the conversation on screen as a file."""
        if self._current is not None:
            self.export_asked.emit(self._current)

    def context_menu(self, index: QModelIndex) -> QMenu:
        """What can be done with a conversation."""
        entry: Entry = index.data(ROW_ROLE)
        conversation, pinned = entry.info.id, entry.info.pinned
        menu = QMenu(self)
        rename = menu.addAction(self.tr("Rename") + "\tF2")
        rename.triggered.connect(lambda: self.list.edit(self.model.entry(conversation)))
        pin = menu.addAction(self.tr("Unpin") if pinned else self.tr("Pin"))
        pin.triggered.connect(lambda: self.pinned.emit(conversation, not pinned))
        export = menu.addAction(self.tr("Export…"))
        export.triggered.connect(lambda: self.export_asked.emit(conversation))
        menu.addSeparator()
        delete = menu.addAction(self.tr("Delete") + "\t" + self.tr("Del"))
        delete.triggered.connect(lambda: self.deleted.emit(conversation, entry.info.title))
        return menu

    def retranslate(self) -> None:
        self.new_button.setText(self.tr("New conversation"))
        self.new_button.setToolTip(self.tr("Begin another conversation (Ctrl+N)"))
        self.more.setToolTip(self.tr("Export and import"))
        self.more.setAccessibleName(self.tr("Export and import"))
        self.export_action.setText(self.tr("Export this conversation…") + "\tCtrl+Shift+E")
        self.import_action.setText(self.tr("Import a conversation…") + "\tCtrl+Shift+I")
        self.search.setPlaceholderText(self.tr("Search all messages   Ctrl+F"))
        self.search.setAccessibleName(self.tr("Search all messages"))
        self.list.setAccessibleName(self.tr("Conversations"))
        self._loaded()
        self.list.viewport().update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        elif event.type() == QEvent.Type.PaletteChange:
            self._tint()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In the search field: Down goes to the list, Escape clears the search."""
        if watched is self.search and event.type() == QEvent.Type.KeyPress:
            assert isinstance(event, QKeyEvent)
            if event.key() == Qt.Key.Key_Down:
                self.list.setFocus(Qt.FocusReason.TabFocusReason)
                if not self.list.currentIndex().isValid() and self.model.entries():
                    first = self.model.entry(self.model.entries()[0].info.id)
                    self.list.setCurrentIndex(first)
                return True
            if event.matches(QKeySequence.StandardKey.Cancel) and self.search.text():
                self.search.clear()
                return True
        return super().eventFilter(watched, event)

    def _tint(self) -> None:
        look = theme.current()
        self.new_button.setIcon(icon("new", look.color("on_accent"), 16))
        self.more.setIcon(icon("more", look.color("text_2"), 18))

    @Slot()
    def _typed(self) -> None:
        self._open_pending = False
        self._search_timer.start()

    @Slot()
    def _search(self) -> None:
        self.model.search(self.search.text())

    @Slot()
    def _open_first(self) -> None:
        """Open the best answer to what stands in the field, as soon as it is there."""
        self._open_pending = self.model.query != self.search.text().strip()
        if self._open_pending:
            if self._search_timer.isActive():
                self._search_timer.stop()
                self._search()
        elif entries := self.model.entries():
            self.chosen.emit(entries[0].info.id, entries[0].message)

    @Slot(QModelIndex)
    def _open(self, index: QModelIndex) -> None:
        row = index.data(ROW_ROLE)
        if isinstance(row, Entry):
            self.chosen.emit(row.info.id, row.message)

    @Slot(QModelIndex)
    def _delete(self, index: QModelIndex) -> None:
        row = index.data(ROW_ROLE)
        if isinstance(row, Entry):
            self.deleted.emit(row.info.id, row.info.title)

    @Slot(QPoint)
    def _show_menu(self, point: QPoint) -> None:
        index = self.list.indexAt(point)
        if isinstance(index.data(ROW_ROLE), Entry):
            menu = self.context_menu(index)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self.list.viewport().mapToGlobal(point))

    @Slot()
    def _loaded(self) -> None:
        empty = not self.model.entries()
        self.nothing.setText(
            self.tr("Nothing was found.")
            if self.model.query
            else self.tr("Your conversations will be kept here.")
        )
        self.nothing.setVisible(empty)
        self._mark_current()
        if self._open_pending and self.model.query == self.search.text().strip():
            self._open_first()

    def _mark_current(self) -> None:
        found = self.model.entry(self._current) if self._current is not None else QModelIndex()
        if not found.isValid():
            self.list.clearSelection()
            self.list.setCurrentIndex(QModelIndex())
        elif not self._is_current() and not self.list.hasFocus():
            # Whoever walks the list with the keys is not thrown back.
            self.list.setCurrentIndex(found)

    def _is_current(self) -> bool:
        row = self.list.currentIndex().data(ROW_ROLE)
        return isinstance(row, Entry) and row.info.id == self._current
