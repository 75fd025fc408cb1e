"""Listens to later starts of the program, which bring the window up and may hand over files."""

from __future__ import annotations

import json
import logging
import os

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from desktop.instance import TOKENS, Place

log = logging.getLogger(__name__)

_LONGEST = 1 << 20


class Listener(QObject):
    """Answers on the socket of a :class:`desktop.instance.Place` and gives the place up at the
    end."""

    #: Another start asks for the window: the files to open, absolute, and its activation tokens.
    asked = Signal(list, dict)

    def __init__(self, place: Place, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._place = place
        self._heard: dict[QLocalSocket, bytes] = {}
        self._server = QLocalServer(self)
        self._server.newConnection.connect(self._connected)
        # Whoever left it there has gone, or we had not got the place.
        place.socket.unlink(missing_ok=True)
        if not self._server.listen(str(place.socket)):
            # The window is still worth having; only later starts cannot reach it.
            log.warning("no other start can reach this one: %s", self._server.errorString())

    def stop(self) -> None:
        """Answer no more: this window is going. Later starts wait for the place from now on."""
        self._server.close()

    def leave(self) -> None:
        self.stop()
        self._place.leave()

    @Slot()
    def _connected(self) -> None:
        while (connection := self._server.nextPendingConnection()) is not None:
            self._heard[connection] = b""
            connection.readyRead.connect(self._read)
            connection.disconnected.connect(self._forget)
            if connection.bytesAvailable():
                self._take(connection)

    @Slot()
    def _read(self) -> None:
        connection = self.sender()
        if isinstance(connection, QLocalSocket):
            self._take(connection)

    def _take(self, connection: QLocalSocket) -> None:
        if connection not in self._heard:
            return
        heard = self._heard[connection] + bytes(connection.readAll().data())
        self._heard[connection] = heard
        if b"\n" in heard:
            del self._heard[connection]
            self._answer(connection, heard.partition(b"\n")[0])
        elif len(heard) > _LONGEST:
            connection.abort()

    def _answer(self, connection: QLocalSocket, line: bytes) -> None:
        try:
            message = json.loads(line)
            files = [str(each) for each in message["open"]]
            tokens = {name: str(message["tokens"].get(name, "")) for name in TOKENS}
        except (ValueError, TypeError, KeyError, AttributeError):
            log.warning("the message of another start cannot be read")
            connection.abort()
            return
        connection.write(b"%d\n" % os.getpid())
        connection.flush()
        self.asked.emit(files, tokens)

    @Slot()
    def _forget(self) -> None:
        connection = self.sender()
        if isinstance(connection, QLocalSocket):
            self._heard.pop(connection, None)
            connection.deleteLater()
