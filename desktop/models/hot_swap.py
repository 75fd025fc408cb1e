"""A running server takes up another version of the address network, without a pause.

The network and the parser that calls it are two Triton models, and must change together: first the
network serves the old and the new version, then the parser is loaded that asks for the new one,
then the old version goes. A failure on the way leaves everything as it was.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from desktop.launchers import current, health
from desktop.launchers.base import ServerState
from desktop.launchers.supervised import running_models
from desktop.models import ModelError, Progress, Report
from desktop.triton.types import Endpoint
from server_bundle.address import served

_START_WITHIN = 120.0


def address_network(weights: Path, version: int, report: Report = lambda progress: None) -> str:
    """Serve the model of that folder as that version; what came of it in a sentence, empty where
    no server runs. Raises ModelError where the server cannot load it."""
    end = time.monotonic() + _START_WITHIN
    while (status := current()) is not None and status.state is ServerState.STARTING:
        if time.monotonic() > end:
            raise ModelError("The server is still starting; try again when it is ready.")
        report(Progress("waiting for the server to be ready"))
        time.sleep(0.5)
    if status is None or status.state not in (ServerState.READY, ServerState.DEGRADED):
        return ""
    if status.launcher == "remote":
        return (
            f"The server in use is not ours to change; copy the folder {weights.parent} into its "
            "model repository."
        )
    models = running_models()
    if models is None or not all(
        (models / name / "config.pbtxt").exists() for name in (served.NETWORK, served.PARSER)
    ):
        return "The running server serves no addresses; the next one will."
    if served.versions(models / served.NETWORK) == [version]:
        return "The running server serves it already."
    report(Progress("loading it into the running server"))
    _Swap(models, status.endpoint).to(weights, version)
    return "The running server serves it now."


class _Swap:
    def __init__(self, models: Path, endpoint: Endpoint) -> None:
        self._network = models / served.NETWORK
        self._parser = models / served.PARSER
        self._endpoint = endpoint

    def to(self, weights: Path, version: int) -> None:
        configs = {model: _config(model).read_text("utf-8") for model in self._models}
        old = served.versions(self._network)
        try:
            served.place(self._network, weights, version)
            both = sorted({*old, version})
            self._rewrite(self._network, lambda config: served.versioned(config, both))
            self._load(self._network)
            self._rewrite(self._parser, lambda config: served.asking_for(config, version))
            self._load(self._parser)
            self._rewrite(self._network, lambda config: served.versioned(config, [version]))
            self._load(self._network)
        except BaseException as error:
            for model, config in configs.items():
                _config(model).write_text(config, "utf-8")
            for model in self._models:
                health.load_model(self._endpoint, model.name)
            if version not in old:
                shutil.rmtree(self._network / str(version), ignore_errors=True)
            if isinstance(error, OSError | ValueError):
                raise ModelError(f"The server cannot load the model: {error}.") from error
            raise
        for other in old:
            if other != version:
                shutil.rmtree(self._network / str(other), ignore_errors=True)

    @property
    def _models(self) -> tuple[Path, Path]:
        return self._network, self._parser

    def _load(self, model: Path) -> None:
        if problem := health.load_model(self._endpoint, model.name):
            raise ModelError(
                f"The server cannot load the model ({problem.rstrip('.')}); the one before it "
                "stays in use."
            )

    @staticmethod
    def _rewrite(model: Path, change: Callable[[str], str]) -> None:
        file = _config(model)
        part = file.with_name(".config.part")
        part.write_text(change(file.read_text("utf-8")), "utf-8")
        part.replace(file)


def _config(model: Path) -> Path:
    return model / "config.pbtxt"
