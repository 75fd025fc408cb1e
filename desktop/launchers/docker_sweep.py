"""Removes the containers of a launch whose supervisor was killed.

Run as a program by the guardian (``python -P docker_sweep.py ENGINE LAUNCH_ID``); it imports
docker-py only, and not this package, so that it runs wherever it is started.
"""

from __future__ import annotations

import sys
import time

import docker


def sweep(address: str, launch_id: str, seconds: float = 10.0) -> None:
    """Remove every container that carries the launch's label. An engine that is just starting
    again is waited for."""
    end = time.monotonic() + seconds
    while True:
        try:
            api = docker.APIClient(
                **{**docker.utils.kwargs_from_env(), "base_url": address}, version="auto"
            )
            label = f"tritalk.launch={launch_id}"
            for found in api.containers(all=True, filters={"label": label}):
                api.remove_container(found["Id"], force=True, v=True)
            return
        except docker.errors.NotFound:
            continue
        except (docker.errors.DockerException, OSError):
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


if __name__ == "__main__":
    sweep(sys.argv[1], sys.argv[2])
