"""What Docker says, word for word, and the sentence a person reads."""

from __future__ import annotations

import pytest

from desktop.launchers.docker_errors import engine_problem, explain, words

SAID = {
    'could not select device driver "" with capabilities: [[gpu]]': "nvidia-ctk runtime configure",
    'could not select device driver "nvidia" with capabilities: [[gpu compute]]': "from a snap",
    "failed to discover GPU vendor from CDI: no known GPU vendor found": "nvidia-ctk cdi generate",
    "CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all": "cdi generate",
    "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot "
    "open shared object file: no such file or directory": "update the driver",
    "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.6": "too old",
    "write /var/lib/docker/tmp/x: no space left on device": "docker system prune",
    "driver failed programming external connectivity on endpoint x: Bind for 127.0.0.1:8001 "
    "failed: port is already allocated": "taken the port",
    "Error starting userland proxy: listen tcp4 127.0.0.1:41111: bind: address already in use": (
        "taken the port"
    ),
    "Ports are not available: exposing port TCP 127.0.0.1:8001": "taken the port",
    "Mounts denied: The path /srv is not shared from the host and is not known to Docker.": (
        "File sharing"
    ),
    'Conflict. The container name "/tritalk-0" is already in use by container "abc"': "server stop",
    "pull access denied for nobody/nothing, repository does not exist or may require 'docker "
    "login'": "tritalk server build",
    "No such image: tritalk-server:cpu-1": "tritalk server build",
    "manifest for nvcr.io/nvidia/tritonserver:99.01-py3 not found: manifest unknown": "its name",
    "unauthorized: authentication required": "docker login",
    "no matching manifest for linux/arm/v7 in the manifest list entries": "processor",
    "exec /opt/venv/bin/python3: exec format error": "processor",
    'Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host': (
        "no network"
    ),
    'Get "https://nvcr.io/v2/": net/http: TLS handshake timeout': "no network",
    "Temporary failure resolving 'deb.debian.org'": "proxy or a mirror",
    "ERROR: No matching distribution found for torch>=2.6": "package index",
    "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify "
    "failed: self-signed certificate'))": "--ca-file",
    'invalid mount config for type "bind": bind source path does not exist: /home/x': "another",
    "Minimum memory limit allowed is 6MB": "raise it",
    'OCI runtime create failed: exec: "/opt/tritonserver/bin/tritonserver": stat '
    "/opt/tritonserver/bin/tritonserver: no such file or directory": "holds no Triton server",
}


@pytest.mark.parametrize("said", SAID)
def test_each_message_becomes_guidance(said: str) -> None:
    sentence = explain(said, "starting the container")
    assert SAID[said] in sentence
    assert sentence.endswith(f"(Docker: {said[:300]})")


CONFLICT = "ERROR: Cannot install torch>=2.6 because these package versions have conflicting"
BROKEN = "WARNING: Retrying (Retry(total=4)) after connection broken by "
BEFORE = {
    f"{BROKEN}'NewConnectionError('Failed to establish a new connection: [Errno -3] Temporary "
    "failure in name resolution')': /simple/torch/": "no network",
    f"{BROKEN}'SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate "
    "verify failed'))': /simple/torch/ Could not fetch URL https://pypi.org/simple/": "--ca-file",
    "Looking in links: /build": "the folder of wheels",
}


@pytest.mark.parametrize("before", BEFORE)
def test_pip_tells_the_cause_before_it_gives_up(before: str) -> None:
    said = f"{CONFLICT} ResolutionImpossible"
    sentence = explain(said, "building the image", before)
    assert BEFORE[before] in sentence
    assert sentence.endswith(f"(Docker: {said})")


def test_what_nobody_knows_is_told_as_it_is() -> None:
    assert explain("the moon is full\n today", "building the image") == (
        "Docker failed while building the image: the moon is full today"
    )
    assert len(explain("x" * 10_000, "building")) < 600


def test_the_engines_own_words_are_found() -> None:
    class Wrapped(Exception):
        explanation = b"no space\x1b[0m left on device"

    assert words(Wrapped("500 Server Error")) == "no space left on device"
    assert words(ValueError()) == "ValueError"


ENGINE = {
    "Error while fetching server API version: ('Connection aborted.', FileNotFoundError(2, 'No "
    "such file or directory'))": "install Docker",
    "Error while fetching server API version: ('Connection aborted.', PermissionError(13, "
    "'Permission denied'))": "usermod -aG docker",
    "Error while fetching server API version: (2, 'CreateFile', 'The system cannot find the file "
    "specified.')": "install Docker",
    "Error while fetching server API version: ('Connection aborted.', ConnectionRefusedError(111, "
    "'Connection refused'))": "systemctl start docker",
    "client version 1.24 is too old. Minimum supported API version is 1.44": "another version",
    "TLS configuration is invalid: certificate expired": "DOCKER_CERT_PATH",
    "Install paramiko package to enable ssh:// support": "another machine",
}


@pytest.mark.parametrize("said", ENGINE)
def test_no_engine(said: str) -> None:
    sentence = engine_problem(Exception(said), "unix:///x.sock")
    assert ENGINE[said] in sentence
    assert "unix:///x.sock" in sentence
