"""What the image runs by itself, in compose and in Kubernetes: ``python3 -m
server_bundle.docker.serve``.

Renders the model repository for the weights in ``/weights`` (folders ``chat`` and ``address``, and
in ``chats`` a folder for each further chat model, served under its name) and becomes tritonserver
on the ports 8000 (HTTP), 8001 (gRPC) and 8002 (metrics). The environment:

- ``TRITALK_DEVICE``: gpu, cpu, or auto (the default), which is gpu where a driver is visible
- ``TRITALK_INSTANCES``: instances of models on each device, such as ``ibuddha_chitchat=2``
- ``TRITALK_PRECISION``: what the chat engines compute in (auto, the default, float32, bfloat16,
  float16 on GPUs, int8 on CPUs)
- ``TRITALK_KEY``: demand this key in the header ``triton-grpc-protocol-tritalk`` for everything but
  health, which probes ask for
- ``TRITALK_WEIGHTS``, ``TRITALK_WORK``: other folders than ``/weights`` and ``/tmp/tritalk``
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from server_bundle import flags, repository
from server_bundle.chitchat.precisions import FOR_DEVICE

_BINARY = "/opt/tritonserver/bin/tritonserver"
_BACKENDS = "/opt/tritonserver/backends"
# How long requests may go on after SIGTERM; a pod's grace period is 30 seconds.
_EXIT_TIMEOUT = 20


class BadEnvironment(Exception):
    """A variable cannot be used: one sentence."""


def device(environment: Mapping[str, str]) -> str:
    """gpu or cpu. Raises :class:`BadEnvironment`."""
    chosen = environment.get("TRITALK_DEVICE") or "auto"
    if chosen not in ("auto", "gpu", "cpu"):
        raise BadEnvironment(f"TRITALK_DEVICE is auto, gpu or cpu, not {chosen!r}.")
    if chosen == "auto":
        visible = any(Path(p).exists() for p in ("/dev/nvidia0", "/dev/nvidiactl", "/dev/dxg"))
        return "gpu" if visible else "cpu"
    return chosen


def instances(environment: Mapping[str, str]) -> dict[str, int]:
    """Instances by model. Raises :class:`BadEnvironment`."""
    found = {}
    for word in environment.get("TRITALK_INSTANCES", "").replace(",", " ").split():
        name, _, count = word.partition("=")
        if not count.isdigit() or int(count) < 1:
            raise BadEnvironment(
                f"TRITALK_INSTANCES is like ibuddha_chitchat=2,multitask_model=1, not {word!r}."
            )
        found[name] = int(count)
    return found


def precision(environment: Mapping[str, str], device: str) -> str:
    """What chat engines compute in. Raises :class:`BadEnvironment`."""
    chosen = environment.get("TRITALK_PRECISION") or "auto"
    if chosen not in FOR_DEVICE[device]:
        known = ", ".join(FOR_DEVICE[device])
        raise BadEnvironment(f"TRITALK_PRECISION is one of {known} (on {device}), not {chosen!r}.")
    return chosen


def chat_models(folder: Path) -> repository.ChatModels:
    """The chat models in ``folder``, which need not exist, by the names of their folders. Raises
    :class:`BadEnvironment` for a name that no model may have."""
    found = {}
    for path in sorted(folder.glob("*/config.json")):
        name = path.parent.name
        if not repository.CHAT_NAME.fullmatch(name) or repository.is_own_name(name):
            raise BadEnvironment(
                f"No chat model can be called {name!r}: small letters, digits, dots and hyphens, "
                "and no name of the server's own; rename its folder."
            )
        found[name] = path.parent
    return repository.ChatModels(found, frozenset(found))


def command(environment: Mapping[str, str]) -> list[str]:
    """Render the repository; tritonserver's command line. Raises :class:`BadEnvironment` or
    OSError."""
    weights = Path(environment.get("TRITALK_WEIGHTS") or "/weights")
    work = Path(environment.get("TRITALK_WORK") or "/tmp/tritalk")
    run = work / "run"
    run.mkdir(parents=True, exist_ok=True)
    chosen = device(environment)
    rendered = repository.render(
        work / "models",
        chat_model=weights / "chat",
        address_model=weights / "address",
        run_dir=run,
        device=chosen,
        instances=instances(environment),
        precision=precision(environment, chosen),
        chat_models=chat_models(weights / "chats"),
    )
    for name, problem in rendered.problems.items():
        print(f"{name} is not served: {problem}", file=sys.stderr, flush=True)
    if not rendered.levels:
        raise BadEnvironment(f"No model can be served; are the weights in {weights}?")
    words = [_BINARY, *flags.always(str(work / "models"), _BACKENDS)]
    words += [f"--load-model={name}" for level in rendered.levels for name in level]
    words += [
        "--http-port=8000",
        "--grpc-port=8001",
        "--metrics-port=8002",
        f"--exit-timeout-secs={_EXIT_TIMEOUT}",
        f"--allow-gpu-metrics={str(chosen == 'gpu').lower()}",
    ]
    if key := environment.get("TRITALK_KEY"):
        words += flags.restricted(key, flags.RESTRICTABLE.removeprefix("health,"))
    return words


def main() -> None:
    try:
        words = command(os.environ)
    except (BadEnvironment, OSError) as error:
        sys.exit(f"tritalk: {error}")
    os.execv(words[0], words)


if __name__ == "__main__":
    main()
