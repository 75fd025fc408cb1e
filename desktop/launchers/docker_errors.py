"""What Docker says, as one sentence with what to do.

The engine answers with free text that differs from release to release, so each row of the table
matches the part that has stayed the same.
"""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_TOOLKIT = (
    "install the NVIDIA Container Toolkit (https://docs.nvidia.com/datacenter/cloud-native/"
    "container-toolkit/), run: sudo nvidia-ctk runtime configure --runtime=docker && sudo "
    "systemctl restart docker – or start on the CPU (--device cpu)"
)
# Matched in this order against everything that the engine said.
_GUIDANCE: tuple[tuple[str, str], ...] = (
    (
        r"could not select device driver",
        "Docker cannot pass a GPU into containers here (no NVIDIA Container Toolkit, or Docker "
        f"from a snap, which cannot have it); {_TOOLKIT}.",
    ),
    (
        r"failed to discover GPU vendor from CDI|unresolvable CDI device",
        f"Docker knows no NVIDIA GPU by CDI; run: sudo nvidia-ctk cdi generate "
        f"--output=/etc/cdi/nvidia.yaml – or {_TOOLKIT}.",
    ),
    (
        r"libnvidia-ml\.so|nvidia-container-cli.*(initialization|driver)|nvml error",
        "The NVIDIA driver cannot be loaded for containers; install or update the driver (under "
        "WSL: the Windows driver, and none inside WSL) and check it with nvidia-smi – or start on "
        "the CPU (--device cpu).",
    ),
    (
        r"requirement error: unsatisfied condition: cuda",
        "The NVIDIA driver is too old for the image's CUDA; update the driver, or start on the "
        "CPU (--device cpu).",
    ),
    (
        r"no space left on device|disk quota exceeded",
        "The disk of the Docker engine is full; make room (docker system prune removes what is "
        "not in use) and try again.",
    ),
    (
        r"port is already allocated|address already in use|ports are not available",
        "Another program has taken the port in the meantime; try again.",
    ),
    (
        r"mounts denied|is not shared from the host|path is not shared",
        "Docker Desktop may not share the application's folders; add them in its settings under "
        "Resources, File sharing.",
    ),
    (
        r"the container name .* is already in use",
        "A container of that name is in the way; run: tritalk server stop, and try again.",
    ),
    (
        r"no such image|pull access denied|manifest unknown|manifest for .* not found"
        r"|repository does not exist|not found: manifest",
        "The image does not exist, or may not be pulled; check its name in the settings, or build "
        "it: tritalk server build",
    ),
    (
        r"unauthorized|authentication required|denied: requested access",
        "The registry demands a login; run: docker login, and try again.",
    ),
    (
        r"no matching manifest for|exec format error",
        "The image is not made for this machine's processor; choose another in the settings, or "
        "build it here: tritalk server build",
    ),
    (
        r"certificate verify failed|x509: ",
        "A certificate is not trusted; give your organisation's CA file (tritalk server build "
        "--ca-file FILE).",
    ),
    (
        r"no such host|lookup .*(i/o timeout|server misbehaving|connection refused)"
        r"|temporary failure (in name )?resol|tls handshake timeout|network is unreachable"
        r"|dial tcp|failed to establish a new connection|could not fetch url|name or service not"
        r"|client\.timeout exceeded|could not resolve",
        "What the image is made of cannot be downloaded: no network, or it needs a proxy or a "
        "mirror; check the connection, or build from a folder of wheels (tritalk server build "
        "--help).",
    ),
    (
        r"no matching distribution found|could not find a version|resolutionimpossible",
        "pip does not find a package of the image; check the package index, or the folder of "
        "wheels, in the settings.",
    ),
    (
        r"exec: \S*(tritonserver|python3)\S* .*(no such file|not found)",
        "The image holds no Triton server; choose another in the settings, or build one: "
        "tritalk server build",
    ),
    (
        r"invalid mount config.*does not exist|bind source path does not exist",
        "A folder that the server needs does not exist for the Docker engine; is the engine on "
        "another machine? Use its address as a remote server instead.",
    ),
    (
        r"memory limit should not be smaller|minimum memory limit",
        "The memory limit in the settings is too small for a container; raise it.",
    ),
    (
        r"triton_release must be",
        "Triton releases before 26.07 are not supported; choose 26.07 or newer.",
    ),
)


def explain(error: Exception | str, doing: str, before: str = "") -> str:
    """One sentence about ``error``, which came while ``doing`` ("starting the container").
    ``before``: what was printed until then, which may tell the cause of what ended it."""
    said = words(error)
    known = f"{said} {words(before)}" if before else said
    for pattern, guidance in _GUIDANCE:
        if re.search(pattern, known, re.IGNORECASE | re.DOTALL):
            return f"{guidance} (Docker: {said[:300]})"
    return f"Docker failed while {doing}: {said[:500]}"


def engine_stopped(address: str) -> str:
    """The engine was there and went away."""
    return (
        f"The Docker engine at {address} was stopped; start it (sudo systemctl start docker, or "
        "open Docker Desktop) and then the server again, or use the built-in Triton "
        "(--launcher embedded)."
    )


def engine_problem(error: Exception, address: str) -> str:
    """Why no engine answers at ``address``, in one sentence with what to do."""
    said = words(error)
    low = said.lower()
    if "permission denied" in low or "permissionerror" in low or "access is denied" in low:
        return (
            f"You may not use the Docker engine at {address}; run: sudo usermod -aG docker $USER, "
            "then log in again."
        )
    if "filenotfounderror" in low or "no such file" in low or "cannot find the file" in low:
        return (
            f"No Docker engine is at {address}; install Docker (https://docs.docker.com/get-docker)"
            " and start it, or use the built-in Triton (--launcher embedded)."
        )
    if "paramiko" in low or address.startswith("ssh:"):
        return (
            f"The Docker engine at {address} is on another machine, where the application's "
            "folders are not; choose a local one, or enter a Triton server's address instead."
        )
    if "is too old" in low or "is too new" in low or "minimum supported api version" in low:
        return f"The Docker engine at {address} speaks another version of its API ({said[:200]})."
    if "certificate" in low or "ssl" in low or "tls" in low:
        return (
            f"The Docker engine at {address} cannot be trusted ({said[:200]}); check "
            "DOCKER_CERT_PATH and DOCKER_TLS_VERIFY."
        )
    return (
        f"The Docker engine at {address} does not answer; start Docker (sudo systemctl start "
        "docker, or open Docker Desktop), or use the built-in Triton (--launcher embedded)."
    )


def failures() -> tuple[type[Exception], ...]:
    """What docker-py raises: its own errors, and those of the layers below, which it lets through
    where a stream breaks."""
    import docker
    import requests
    import urllib3

    return (
        docker.errors.DockerException,
        requests.RequestException,
        urllib3.exceptions.HTTPError,
        OSError,
    )


def words(error: Exception | str) -> str:
    """What was said, on one line, without docker-py's own wrapping."""
    said = getattr(error, "explanation", None) or str(error) or type(error).__name__
    if isinstance(said, bytes):
        said = said.decode(errors="replace")
    return " ".join(_ESCAPES.sub("", str(said)).split())
