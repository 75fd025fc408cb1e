"""What the models of our tables have in common: headings over the columns, at the left."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, Qt


class TableModel(QAbstractTableModel):
    def headings(self) -> Sequence[str]:
        """The words over each column, in the language of now."""
        return ()

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return self.headings()[section] if role == Qt.ItemDataRole.DisplayRole else None
