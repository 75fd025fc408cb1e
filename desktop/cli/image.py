"""``tritalk server build``: the image of the Docker launcher, built with its progress shown."""

from __future__ import annotations

import argparse
import dataclasses
import sys

from desktop import settings
from desktop.launchers import docker_engine, docker_image, docker_progress
from desktop.launchers.base import LaunchError

_OPTIONS = {
    "base_image": "what the cpu image is built on: Debian, or Python 3.11 or 3.12",
    "triton_release": "NVIDIA's Triton release for the gpu image, 26.07 or newer",
    "wheels": "a folder of wheels to install without any network",
    "pip_index_url": "the package index",
    "torch_index_url": "where torch's wheels come from",
    "apt_mirror": "the Debian mirror",
    "time_zone": "the container's time zone",
    "ca_file": "certificates (PEM) that pip needs besides",
    "network": "the engine's network for the build, such as host",
}


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "build",
        help="build the image of the Docker launcher",
        description="Build the image of the Docker launcher. What is not given here is as in the "
        "settings (docker.base_image, ...) or the environment (TRITALK_DOCKER_BASE_IMAGE, ...).",
    )
    parser.add_argument("--target", choices=("cpu", "gpu"), default="cpu", help="default: cpu")
    for name, words in _OPTIONS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", default="", help=words)
    parser.add_argument("--force", action="store_true", help="build it though it exists")
    parser.set_defaults(func=build)


def build(arguments: argparse.Namespace) -> int:
    """Exit code 1 where it cannot be built. Ctrl+C ends the build, in the engine too."""
    cancel = docker_progress.Cancel()
    shown = _Lines()
    try:
        stored = settings.load().docker
        given = {name: getattr(arguments, name) for name in _OPTIONS if getattr(arguments, name)}
        recipe = docker_image.Recipe(**{**stored.recipe(), **given, "target": arguments.target})
        engine = docker_engine.connect(stored.engine)
        try:
            found = "" if arguments.force else docker_image.exists(engine.api, recipe.tag)
            if not found:
                found = docker_image.build(engine.api, recipe, shown, cancel)
                docker_image.remove_old(engine.api, recipe.tag)
        except KeyboardInterrupt:
            cancel()
            print("cancelled", file=sys.stderr)
            return 130
        finally:
            engine.close()
    except LaunchError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{recipe.tag} ({found.removeprefix('sha256:')[:12]})")
    _hint(stored, given)
    return 0


def _hint(stored: settings.DockerSettings, given: dict[str, str]) -> None:
    """A server is started after the settings, so what else the image is to hold must be there."""
    have = docker_image.Recipe(**stored.recipe())
    differing = {k: v for k, v in given.items() if getattr(have, k) != v}
    if dataclasses.replace(have, **differing).digest() != have.digest():
        variables = " ".join(f"TRITALK_DOCKER_{k.upper()}={v}" for k, v in differing.items())
        print(
            f"The Docker launcher uses this image with: {variables} (or the same in the settings)",
            file=sys.stderr,
        )


class _Lines:
    """Prints progress: one line that changes on a terminal, else a line a step."""

    def __init__(self) -> None:
        self._last: tuple[str, int, int] = ("", 0, 0)

    def __call__(self, progress: docker_progress.Progress) -> None:
        if progress.detail:
            return  # what a step prints is for the window, which has the room
        if sys.stderr.isatty():
            print(f"\r\033[K{str(progress)[:100]}", end="", file=sys.stderr, flush=True)
            if progress.phase == "build" and progress.step == progress.steps:
                print(file=sys.stderr)
            return
        now = (progress.phase, progress.step, progress.layers_done)
        complete = 0 < progress.bytes_total == progress.bytes_done
        if now != self._last or complete:
            self._last = now
            print(progress, file=sys.stderr, flush=True)
