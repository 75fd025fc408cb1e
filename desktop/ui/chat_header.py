"""The line over the messages: title, what the colours mean, which colours, the side panels."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QPushButton, QToolButton, QWidget

from desktop.ui import theme
from desktop.ui.coloring import Coloring
from desktop.ui.controls import fit_segments
from desktop.ui.icons import icon
from desktop.ui.legend import ProbabilityLegend
from desktop.ui.status_bar import ElidedLabel

# Narrower than this the legend gives way to the title.
_LEGEND_FROM = 680


class ChatHeader(QFrame):
    coloring_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        theme.fit(self, height=52)
        self.list_button = QToolButton(self)
        self.panel_button = QToolButton(self)
        for button in (self.list_button, self.panel_button):
            button.setObjectName("toggle")
            button.setCheckable(True)
            theme.fit(button, icon=18, width=32, height=32)
        self.unsure_button = QToolButton(self)
        self.unsure_button.setObjectName("toggle")
        self.unsure_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        theme.fit(self.unsure_button, icon=14, height=32)
        self.title = ElidedLabel(self)
        self.title.setObjectName("pageTitle")
        self.legend = ProbabilityLegend(self)
        self.colorings: dict[Coloring, QPushButton] = {}
        self._group = QButtonGroup(self)
        segments = QHBoxLayout()
        segments.setSpacing(0)
        for place, coloring in enumerate(Coloring):
            button_ = QPushButton(self)
            button_.setCheckable(True)
            button_.setObjectName("segment")
            button_.setProperty("place", ("first", "middle", "last")[place])
            self._group.addButton(button_, place)
            self.colorings[coloring] = button_
            segments.addWidget(button_)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 0)
        row.setSpacing(12)
        row.addWidget(self.list_button)
        row.addWidget(self.title, 1)
        row.addWidget(self.legend)
        row.addWidget(self.unsure_button)
        row.addLayout(segments)
        row.addWidget(self.panel_button)
        self._group.idClicked.connect(self._choose)
        self._coloring = Coloring.PROBABILITY
        self.show_coloring(self._coloring)
        self.retranslate()
        self._tint()

    def show_coloring(self, coloring: Coloring) -> None:
        self._coloring = coloring
        self.colorings[coloring].setChecked(True)
        self.legend.show_coloring(coloring)
        self._place_legend()

    def retranslate(self) -> None:
        words = {
            Coloring.PROBABILITY: (
                self.tr("Probability"),
                self.tr("Tint each token by how probable it was"),
            ),
            Coloring.PERPLEXITY: (
                self.tr("Perplexity"),
                self.tr("Tint each token by how open the choice was"),
            ),
            Coloring.OFF: (self.tr("Off"), self.tr("No tints")),
        }
        for coloring, (name, meaning) in words.items():
            self.colorings[coloring].setText(name)
            self.colorings[coloring].setToolTip(meaning)
            self.colorings[coloring].setAccessibleName(meaning)
        fit_segments(self.colorings.values())
        self.unsure_button.setText("F8")
        self.unsure_button.setToolTip(
            self.tr("Go to the next passage the model was unsure of; Shift+F8 goes back")
        )
        self.unsure_button.setAccessibleName(self.unsure_button.toolTip())
        self.list_button.setToolTip(self.tr("Conversations (Ctrl+B)"))
        self.list_button.setAccessibleName(self.tr("Show the conversations"))
        self.panel_button.setToolTip(self.tr("Sampling (Ctrl+.)"))
        self.panel_button.setAccessibleName(self.tr("Show the sampling panel"))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        elif event.type() == QEvent.Type.FontChange:
            fit_segments(self.colorings.values())
            self._place_legend()
        elif event.type() == QEvent.Type.PaletteChange:
            self._tint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_legend()

    def _place_legend(self) -> None:
        room = self.width() >= theme.px(_LEGEND_FROM)
        self.legend.setVisible(room and self._coloring is not Coloring.OFF)
        self.unsure_button.setVisible(self.legend.isVisibleTo(self))

    def _tint(self) -> None:
        color = theme.current().color("text_2")
        self.list_button.setIcon(icon("panel_left", color, 18))
        self.unsure_button.setIcon(icon("arrow_down", color, 14))
        self.panel_button.setIcon(icon("settings", color, 18))

    @Slot(int)
    def _choose(self, place: int) -> None:
        coloring = list(Coloring)[place]
        self.show_coloring(coloring)
        self.coloring_chosen.emit(coloring)
