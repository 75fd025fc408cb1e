"""What the server says of its chat models: which there are, and the limits of the one in use."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from desktop.launchers.base import ServerStatus
from desktop.triton.models import ModelLimits, is_ready
from desktop.triton.types import Endpoint
from desktop.ui.session import SERVING, ServerSession


class ModelWatch(QObject):
    """Asks in the background whenever another server serves or another model is used."""

    #: The models of the repository index and their states.
    models_changed = Signal(object)
    #: What may be asked of the model in use.
    limits_changed = Signal(object)

    def __init__(self, session: ServerSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._model = ""
        self._told: tuple[Endpoint, str] | None = None
        session.status_changed.connect(self._status_changed)

    def use(self, model: str) -> None:
        self._model = model
        self._ask(self._session.status)

    @Slot(object)
    def _status_changed(self, status: ServerStatus) -> None:
        if status.models:
            self.models_changed.emit(status.models)
        if status.state not in SERVING:
            self._told = None
        self._ask(status)

    def _ask(self, status: ServerStatus) -> None:
        wanted = (status.endpoint, self._model)
        ready = status.state in SERVING and is_ready(status.models, self._model)
        if not ready or self._told == wanted:
            return
        self._told = wanted

        def tell(limits: ModelLimits | None) -> None:
            if limits is not None and self._told == wanted:
                self.limits_changed.emit(limits)

        def forget(error: Exception) -> None:
            if self._told == wanted:
                self._told = None  # asked again when the status changes

        self._session.limits(self._model, succeeded=tell, failed=forget)
