"""Whether a container really sees a GPU: engines may ignore the request (Podman does), or grant it
without a driver that works."""

from __future__ import annotations

import json
from typing import Any

from desktop.launchers.base import LaunchError
from desktop.launchers.docker_container import LABEL_APPLICATION, LABEL_OWNER, gpu_requests, owner
from desktop.launchers.docker_container import remove as remove_container
from desktop.launchers.docker_errors import explain, failures

# Asks the driver itself, so that neither torch nor nvidia-smi need be in the image.
_CHECK = """
import ctypes, json
def ask():
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return {"error": str(error)}
    status = cuda.cuInit(0)
    if status:
        return {"error": "cuInit answers %d" % status}
    count = ctypes.c_int()
    cuda.cuDeviceGetCount(ctypes.byref(count))
    names = []
    for number in range(count.value):
        device, name = ctypes.c_int(), ctypes.create_string_buffer(100)
        cuda.cuDeviceGet(ctypes.byref(device), number)
        cuda.cuDeviceGetName(name, 100, device)
        names.append(name.value.decode())
    return {"gpus": names}
print(json.dumps(ask()))
"""
_WITHIN = 60


def visible_gpus(api: Any, image: str, gpus: tuple[int, ...]) -> list[str]:
    """The names of the GPUs that a container of ``image`` sees when it asks for ``gpus`` (their
    numbers; none for all). Raises :class:`LaunchError` where it sees none, with what to do."""
    container = ""
    try:
        created = api.create_container(
            image,
            entrypoint=["python3", "-c"],
            command=[_CHECK],
            labels={LABEL_APPLICATION: "tritalk", LABEL_OWNER: owner()},
            host_config=api.create_host_config(
                device_requests=gpu_requests(gpus),
                network_mode="none",
                cap_drop=["ALL"],
                security_opt=["no-new-privileges"],
                read_only=True,
            ),
        )
        container = created["Id"]
        api.start(container)
        api.wait(container, timeout=_WITHIN)
        said = api.logs(container, stdout=True, stderr=True).decode(errors="replace").strip()
    except failures() as error:
        raise LaunchError(explain(error, "asking for a GPU")) from error
    finally:
        if container:
            remove_container(api, container)
    try:
        found = json.loads(said.splitlines()[-1])
    except (ValueError, IndexError):
        found = {"error": said[-300:]}
    if names := found.get("gpus"):
        return list(names)
    why = found.get("error") or "the driver counts none"
    raise LaunchError(
        f"Docker accepts the request for a GPU, but inside the container none is visible ({why}); "
        "check nvidia-smi and the NVIDIA Container Toolkit, or start on the CPU (--device cpu)."
    )
