"""Triton in a container as a supervisor's server: image, container, what it leaves."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from desktop import paths
from desktop.launchers import (
    choice,
    docker_container,
    docker_engine,
    docker_gpu,
    docker_image,
    docker_progress,
    docker_sweep,
    guardian,
    health,
)
from desktop.launchers.base import LaunchError, Report
from desktop.launchers.docker_errors import engine_stopped, explain, failures, words
from desktop.launchers.docker_process import DockerProcess
from desktop.launchers.embedded_server import check_rendered, installed_chats
from desktop.launchers.server_process import PortTaken, ServerOptions
from desktop.launchers.tritonserver import (
    KEY_HEADER,
    Folders,
    arguments,
    free_ports,
    new_key,
    remove_sockets,
)
from desktop.models import address as address_models
from desktop.triton.types import Endpoint
from server_bundle import repository

_PORT_TAKEN = ("port is already allocated", "address already in use", "ports are not available")


class DockerServer:
    """One container after the other, each of the same image and configuration."""

    launcher = "docker"

    def __init__(
        self,
        options: ServerOptions,
        folders: Folders,
        launch_id: str,
        reason: str,
        *,
        log: Callable[[str], None],
    ) -> None:
        self.reason = reason
        self._options = options
        self._folders = folders
        self._launch_id = launch_id
        self._log = log
        self._cancel = docker_progress.Cancel()
        self._engine: docker_engine.Engine | None = None
        self._image = ""
        self._gpu = False
        self._tcp = options.listen == "tcp"
        self._lock_memory = True
        self._configuration = ""
        self._adopted = ""
        self._adopted_endpoint = Endpoint("")

    # -- before it runs -----------------------------------------------------------------------

    def prepare(self, report: Report) -> repository.Rendered:
        report("looking for a Docker engine")
        engine = self._engine = docker_engine.connect(self._options.engine)
        if not engine.local:
            raise LaunchError(
                f"The Docker engine at {engine.address} is on another machine, where the "
                "application's folders are not; choose a local one, or enter a Triton server's "
                "address instead (--launcher remote)."
            )
        self._write_clearing_file(engine)
        if not engine.shares_sockets and not self._tcp:
            self._tcp = True
            self._log("tritalk: this engine shares no Unix sockets; listening on loopback ports")
        self._image, self._gpu = self._choose_device(engine, report)
        report("preparing the model repository")
        rendered = self.render()
        check_rendered(rendered, Path(self._options.models_source or repository.SOURCE))
        self._configuration = self._hash()
        self._adopt_or_remove(engine)
        return rendered

    def cancel(self) -> None:
        self._cancel()

    def keep(self) -> None:
        guardian.keep(self._folders.run)

    def _choose_device(self, engine: docker_engine.Engine, report: Report) -> tuple[str, bool]:
        """The image to run, and whether on a GPU that a container of it really sees."""
        device = self._options.device
        if device == "cpu":
            return self._ensure_image("cpu", report), False
        hint = choice.nvidia_gpu() or engine.offers_gpu
        if device == "auto" and not hint:
            self.reason += "; on the CPU: no NVIDIA GPU found"
            return self._ensure_image("cpu", report), False
        try:
            image = self._ensure_image("gpu", report)
            report("looking for the GPU inside a container")
            names = docker_gpu.visible_gpus(engine.api, image, self._options.gpus)
        except docker_progress.Cancelled:
            raise
        except LaunchError as error:
            if device == "gpu":
                raise
            self.reason += f"; on the CPU: {error}"
            return self._ensure_image("cpu", report), False
        self.reason += f"; on the GPU: {', '.join(names)}"
        return image, True

    def _ensure_image(self, target: str, report: Report) -> str:
        assert self._engine is not None
        recipe = docker_image.Recipe(**{**self._options.recipe, "target": target})
        return docker_image.ensure(
            self._engine.api,
            recipe,
            self._options.image,
            docker_progress.Throttled(report, target),
            self._cancel,
        )

    def render(self, *, again: bool = False) -> repository.Rendered:
        models = paths.resources_dir() / "models"
        chat = models / "chitchat-tiny"
        address = address_models.chosen()  # its files are copied into the served repository
        source = Path(self._options.models_source or repository.SOURCE)
        inside = docker_container.WEIGHTS
        self._weights = {f"{inside}/chat": chat} if chat.is_dir() else {}
        # Mounted as a whole, so that a model imported later is seen without another container.
        chats = installed_chats()
        chats.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._chats = {f"{inside}/chats": chats.folder}
        own = chats.below(chats.folder)
        return repository.render(
            self._folders.models,
            chat_model=chat,
            address_model=address_models.weights(address),
            address_version=address.version,
            run_dir=self._folders.run,
            device="gpu" if self._gpu else "cpu",
            gpus=len(self._options.gpus),
            instances=self._options.instances,
            precision=self._options.precision,
            seen_as={
                chat: f"{inside}/chat",
                self._folders.run: docker_container.WORK,
                **{path: f"{inside}/chats/{name}" for name, path in own.folders.items()},
            },
            chat_models=own,
            again=again,
            source=source,
        )

    def _hash(self) -> str:
        """What a running container must have been started with to be the one that is wanted."""
        wanted = (self._image, self._gpu, self._tcp, self._options.gpus, self._options.memory)
        total = hashlib.sha256(repr(wanted).encode())
        for inside, folder in (*self._weights.items(), ("models", self._folders.models)):
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                found = path.stat()
                total.update(f"{inside}/{path.relative_to(folder)} {found.st_size}\0".encode())
                # Reading weights of gigabytes would take too long; they are written once.
                if found.st_size < 1 << 20:
                    total.update(path.read_bytes())
                elif inside != "models":
                    total.update(str(found.st_mtime_ns).encode())
        return total.hexdigest()[:16]

    def _adopt_or_remove(self, engine: docker_engine.Engine) -> None:
        """Take over this launch's container where it runs, answers and is as wanted; remove every
        other one that is ours."""
        try:
            for found in docker_container.of_owner(engine.api):
                labels = found.get("Labels") or {}
                if (
                    found.get("State") == "running"
                    and labels.get(docker_container.LABEL_LAUNCH) == self._launch_id
                    and labels.get(docker_container.LABEL_CONFIGURATION) == self._configuration
                ):
                    endpoint = self._endpoint_of(engine.api.inspect_container(found["Id"]))
                    if health.is_live(endpoint, 2.0):
                        self._adopted, self._adopted_endpoint = found["Id"], endpoint
                        continue
                docker_container.remove(engine.api, found["Id"])
        except failures() as error:
            raise LaunchError(explain(error, "looking for older containers")) from error

    def _endpoint_of(self, container: dict[str, Any]) -> Endpoint:
        bindings = container["HostConfig"].get("PortBindings") or {}
        if not bindings:
            return self._socket_endpoint()
        grpc, http = (
            bindings[f"{port}/tcp"][0]["HostPort"]
            for port in (docker_container.GRPC_PORT, docker_container.HTTP_PORT)
        )
        command = " ".join(container["Config"]["Cmd"])
        key = command.rpartition(f"{KEY_HEADER}=")[2].partition(" ")[0]
        return self._port_endpoint(int(grpc), int(http), key)

    # -- running ------------------------------------------------------------------------------

    def new_endpoint(self) -> Endpoint:
        if self._adopted:
            return self._adopted_endpoint
        if not self._tcp:
            return self._socket_endpoint()
        grpc, http = free_ports(2)
        return self._port_endpoint(grpc, http, new_key())

    def _socket_endpoint(self) -> Endpoint:
        folder = self._sockets
        return Endpoint(f"unix:{folder}/g:1", f"unix:{folder}/h", f"unix:{folder}/m")

    def _port_endpoint(self, grpc: int, http: int, key: str) -> Endpoint:
        assert self._engine is not None
        # Triton cannot restrict its metrics, so they are on a socket or off.
        metrics = f"unix:{self._sockets}/m" if self._engine.shares_sockets else ""
        return Endpoint(f"127.0.0.1:{grpc}", f"http://127.0.0.1:{http}", metrics, {KEY_HEADER: key})

    @property
    def _sockets(self) -> Path:
        folder = self._folders.run / "t"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    async def spawn(self, endpoint: Endpoint) -> DockerProcess:
        assert self._engine is not None
        if self._adopted:
            container, self._adopted = self._adopted, ""
            return await asyncio.to_thread(DockerProcess, self._engine, container, True)
        return await asyncio.to_thread(self._start, self._engine, endpoint)

    def _start(self, engine: docker_engine.Engine, endpoint: Endpoint) -> DockerProcess:
        remove_sockets(endpoint)
        try:
            container = self._create(engine, endpoint)
            try:
                return self._start_created(engine, container)
            except failures() as error:
                docker_container.remove(engine.api, container)
                said = words(error).lower()
                if self._lock_memory and ("memlock" in said or "rlimit type 8" in said):
                    self._lock_memory = False
                    self._log(
                        "tritalk: this engine may not lift the limit of locked memory; going on "
                        f"without (Docker: {words(error)})"
                    )
                    return self._start(engine, endpoint)
                if any(part in said for part in _PORT_TAKEN):
                    raise PortTaken(explain(error, "starting the container").rstrip(".")) from error
                raise
        except failures() as error:
            raise LaunchError(self._explain(engine, error)) from error

    def _create(self, engine: docker_engine.Engine, endpoint: Endpoint) -> str:
        ports = None
        sockets = docker_container.SOCKETS
        metrics = f"unix:{sockets}/m" if endpoint.metrics else ""
        inside = Endpoint(f"unix:{sockets}/g:1", f"unix:{sockets}/h", metrics)
        if self._tcp:
            grpc, http = (int(a.rpartition(":")[2]) for a in (endpoint.grpc, endpoint.http))
            ports = (grpc, http)
            inside = Endpoint(
                f"0.0.0.0:{docker_container.GRPC_PORT}",
                f"http://0.0.0.0:{docker_container.HTTP_PORT}",
                metrics,
                endpoint.headers,
            )
        writable = {sockets: self._sockets} if engine.shares_sockets else {}
        mounts = docker_container.Mounts(
            {docker_container.MODELS: self._folders.models, **self._weights, **self._chats},
            writable,
        )
        host = docker_container.host_config(
            engine,
            mounts,
            ports=ports,
            gpu=self._gpu,
            gpus=self._options.gpus,
            memory=self._options.memory,
            lock_memory=self._lock_memory,
        )
        command = arguments(
            docker_container.BINARY,
            docker_container.MODELS,
            docker_container.BACKENDS,
            inside,
            self._launch_id,
            gpu=self._gpu,
        )
        labels = {
            docker_container.LABEL_OWNER: docker_container.owner(),
            docker_container.LABEL_LAUNCH: self._launch_id,
            docker_container.LABEL_CONFIGURATION: self._configuration,
        }
        name = f"tritalk-{docker_container.owner()}"
        return docker_container.create(engine, self._image, command, host, labels, name)

    def _start_created(self, engine: docker_engine.Engine, container: str) -> DockerProcess:
        engine.api.start(container)
        return DockerProcess(engine, container, False)

    def _explain(self, engine: docker_engine.Engine, error: Exception) -> str:
        try:
            engine.api.ping()
        except failures():
            return engine_stopped(engine.address)  # it answered when this began
        return explain(error, "starting the container")

    # -- clearing up --------------------------------------------------------------------------

    def protect(self) -> None:
        """A container's shared memory is its own."""

    def sweep(self) -> None:
        """Each process removes its own container, which takes its shared memory along."""

    def close(self) -> None:
        """Remove what is left; where the engine does not answer, the clearing command goes on
        trying for a while, and then the next start."""
        if self._engine is None:
            return
        with contextlib.suppress(*failures()):
            for found in docker_container.of_owner(self._engine.api):
                docker_container.remove(self._engine.api, found["Id"])
            for folder in self._folders.all():
                (folder / guardian.CLEARING_FILE).unlink(missing_ok=True)
        self._engine.close()

    def _write_clearing_file(self, engine: docker_engine.Engine) -> None:
        command = [sys.executable, "-P", docker_sweep.__file__, engine.address, self._launch_id]
        for folder in self._folders.all():
            with contextlib.suppress(FileNotFoundError):
                (folder / guardian.CLEARING_FILE).write_text(json.dumps(command))
