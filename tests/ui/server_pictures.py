"""The states of the server page for the gallery: at work, building, failed; its log, its form."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from desktop import paths
from desktop.launchers.base import Progress, ServerState, ServerStatus
from desktop.triton.control import ModelInfo
from desktop.triton.metrics import Figures, Gpu
from desktop.triton.types import Endpoint
from tests.ui.fakes import FAILED, READY

if TYPE_CHECKING:
    from tests.ui.screenshots import Gallery

_RUN = "unix:/run/user/1000/tritalk/8f3a2c1d"
SERVING = replace(
    READY, message="ready", endpoint=Endpoint(f"{_RUN}/g:1", f"{_RUN}/h", f"{_RUN}/m"), pid=0
)
BUILDING = ServerStatus(
    "docker",
    "chosen by the user",
    ServerState.STARTING,
    "CPU image: building: step 9 of 17 (RUN pip install --no-cache-dir torch transformers)",
    progress=Progress(
        "build",
        "RUN pip install --no-cache-dir torch transformers",
        step=9,
        steps=17,
        detail="Downloading torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl (184.5 MB)",
    ),
)
PULLING = replace(
    BUILDING,
    message="GPU image: pulling: 5213 MiB of 9120 MiB, 14 of 32 layers",
    progress=Progress("pull", "", 5213 << 20, 9120 << 20, 14, 32),
)
NO_ENGINE = ServerStatus(
    "docker",
    "chosen by the user",
    ServerState.FAILED,
    "No Docker engine is at unix:///var/run/docker.sock; install Docker "
    "(https://docs.docker.com/get-docker) and start it, or use the built-in Triton "
    "(--launcher embedded).",
)
MODELS = (
    ModelInfo("address_parser", "", "UNAVAILABLE", "unloaded"),
    ModelInfo("ibuddha_chitchat", "1", "READY"),
    ModelInfo("ibuddha_chitchat_bls", "1", "READY"),
    ModelInfo("ibuddha_chitchat_stream", "1", "LOADING"),
    ModelInfo(
        "multitask_model",
        "",
        "UNAVAILABLE",
        "Internal: RuntimeError: PytorchStreamReader failed reading zip archive: failed finding "
        "central directory",
    ),
)
LOG = """\
2026-11-29T22:22:55Z I 1493 grpc_server.cc:2558] "Started GRPCInferenceService at unix:g:1"
2026-11-29T22:22:55Z I 1493 model_lifecycle.cc:472] "loading: multitask_model:1"
2026-11-29T22:22:55Z W 1493 pinned_memory_manager.cc:273] "Unable to allocate pinned system memory"
2026-11-29T22:23:00Z E 1493 model_lifecycle.cc:642] "failed to load 'multitask_model' version 1"
Traceback (most recent call last):
  File "/models/multitask_model/1/model.py", line 41, in initialize
RuntimeError: PytorchStreamReader failed reading zip archive
2026-11-29T22:23:01Z I 1493 model_lifecycle.cc:839] "successfully loaded 'ibuddha_chitchat'"
tritalk: the process of the model ibuddha_chitchat was killed
"""


def figures(gpu: bool = False) -> list[Figures]:
    """Five minutes of a server at work, always the same."""
    result = []
    for second in range(300):
        wave = max(0.0, math.sin(second / 23) * math.sin(second / 7))
        busy = wave > 0.05
        result.append(
            Figures(
                float(second),
                replies=4 * wave,
                addresses=9 * max(0.0, math.sin(second / 41)),
                tokens=620 * wave,
                chat_batch=1 + 7 * wave if busy else None,
                address_batch=1 + 15 * max(0.0, math.sin(second / 41)) if second > 60 else None,
                chat_queue=0.4 + 3 * wave if busy else None,
                address_queue=0.3 + 2 * max(0.0, math.sin(second / 41)) if second > 60 else None,
                cpu=min(1.0, 0.1 + 0.8 * wave),
                memory_used=2.1e9 + 4e8 * wave,
                memory_total=25.3e9,
                gpus={
                    "GPU-a": Gpu(0.9 * wave, 3e9 + 1e9 * wave, 24e9),
                    "GPU-b": Gpu(0.4 * wave, 2.5e9, 24e9),
                }
                if gpu
                else {},
            )
        )
    return result


def take_server(gallery: Gallery) -> None:
    """Photograph the page in its states; the window is on another page afterwards."""
    window, page = gallery.window, gallery.window.server

    def become(status: ServerStatus) -> None:
        gallery.lease.become(status)
        gallery.until(lambda: gallery.app.session.status == status)

    window.show_page(2)
    become(BUILDING)
    gallery.shoot("server_building")
    become(PULLING)
    gallery.shoot("server_pulling")
    become(SERVING)
    gallery.until(page.charts.isVisible)
    for each in figures(gpu=True):
        page.charts.add(each)
    page.models._index = {model.name: model for model in MODELS}
    page.models._show()
    gallery.shoot("server")
    column = page.parts.widget(0)
    bar = column.verticalScrollBar()  # type: ignore[attr-defined]
    gallery.shoot("server_models", lambda: bar.setValue(bar.maximum()))
    bar.setValue(0)
    log = paths.log_dir() / "server.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(LOG * 12)
    page.show_section(1)
    gallery.until(lambda: len(page.log.lines()) > 100)
    gallery.shoot("server_log")
    page.log.search.setText("multitask")
    page.log.level.setCurrentIndex(1)
    page.log.refill()
    gallery.shoot("server_log_search")
    page.log.search.clear()
    page.log.level.setCurrentIndex(0)
    take_form(gallery)
    size = window.size()
    window.resize(window.minimumSize())
    for number, name in enumerate(("server", "server_log", "server_settings")):
        page.show_section(number)
        gallery.shoot(f"{name}_small")
    become(BUILDING)
    page.show_section(0)
    gallery.shoot("server_building_small")
    become(NO_ENGINE)
    gallery.shoot("server_failed_small")
    window.resize(size)
    become(NO_ENGINE)
    gallery.shoot("server_no_docker")
    become(FAILED)
    gallery.shoot("server_failed")
    window.show_page(0)


def take_form(gallery: Gallery) -> None:
    """The settings: of this machine, of a remote server, and decided by the environment."""
    page = gallery.window.server
    form = page.settings
    page.show_section(2)
    gallery.shoot("server_settings")
    memory = form.fields["docker.memory"].input  # type: ignore[attr-defined]
    memory.setText("lots")
    memory.editingFinished.emit()
    form.fields["instances"].spins["ibuddha_chitchat"].setValue(2)  # type: ignore[attr-defined]
    os.environ["TRITALK_DEVICE"] = "cpu"
    form.reload()
    gallery.shoot("server_settings_changed")
    del os.environ["TRITALK_DEVICE"]
    memory.setText("8g")
    memory.editingFinished.emit()
    os.environ["TRITALK_REMOTE_TOKEN"] = "a-secret"
    launcher = form.fields["launcher"].input  # type: ignore[attr-defined]
    launcher.setCurrentIndex(3)
    launcher.activated.emit(3)
    gallery.until(lambda: not form._under_way)
    form.reload()
    gallery.shoot("server_settings_remote")
    del os.environ["TRITALK_REMOTE_TOKEN"]
    launcher.setCurrentIndex(0)
    launcher.activated.emit(0)
    gallery.until(lambda: not form._under_way)
    form.reload()
