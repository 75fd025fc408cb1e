"""Sentences of the launchers and about the server, as templates for :mod:`desktop.ui.phrases`.

A template is one literal, as lupdate reads them; a test reads the launchers' source and finds each
of their sentences here.
"""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP

SOURCES = (
    # Why this launcher.
    QT_TRANSLATE_NOOP("phrases", "only Docker serves on a GPU"),
    QT_TRANSLATE_NOOP("phrases", "an NVIDIA GPU and a Docker engine found"),
    QT_TRANSLATE_NOOP("phrases", "the built-in Triton cannot run here ({0})"),
    QT_TRANSLATE_NOOP("phrases", "a container was kept running"),
    QT_TRANSLATE_NOOP("phrases", "{0}; using the built-in Triton"),
    QT_TRANSLATE_NOOP("phrases", "{0}; on the CPU: {1}"),
    QT_TRANSLATE_NOOP("phrases", "{0}; on the GPU: {1}"),
    QT_TRANSLATE_NOOP("phrases", "no NVIDIA GPU found"),
    # What the launcher is doing.
    QT_TRANSLATE_NOOP("phrases", "preparing"),
    QT_TRANSLATE_NOOP("phrases", "looking for a Docker engine"),
    QT_TRANSLATE_NOOP("phrases", "looking for the GPU inside a container"),
    QT_TRANSLATE_NOOP("phrases", "CPU image: {0}"),
    QT_TRANSLATE_NOOP("phrases", "GPU image: {0}"),
    QT_TRANSLATE_NOOP("phrases", "sending {0} of {1} to Docker"),
    QT_TRANSLATE_NOOP("phrases", "pulling: {0} of {1}, {2} of {3} layers"),
    QT_TRANSLATE_NOOP("phrases", "building: step {0} of {1} ({2})"),
    QT_TRANSLATE_NOOP("phrases", "connecting to {0}"),
    QT_TRANSLATE_NOOP("phrases", "not ready"),
    QT_TRANSLATE_NOOP("phrases", "it was stopped in the window"),
    QT_TRANSLATE_NOOP("phrases", "it is restarted"),
    QT_TRANSLATE_NOOP("phrases", "the start was cancelled"),
    QT_TRANSLATE_NOOP("phrases", "tritalk server stop"),
    QT_TRANSLATE_NOOP("phrases", "it failed"),
    QT_TRANSLATE_NOOP("phrases", "it was told to stop"),
    QT_TRANSLATE_NOOP("phrases", "nobody needs the server any more"),
    QT_TRANSLATE_NOOP("phrases", "a server with other settings takes its place"),
    # How a server ended.
    QT_TRANSLATE_NOOP("phrases", "tritonserver {0}"),
    QT_TRANSLATE_NOOP("phrases", "tritonserver {0} ({1})"),
    QT_TRANSLATE_NOOP("phrases", "ended with exit status {0}"),
    QT_TRANSLATE_NOOP("phrases", "was killed by {0}"),
    QT_TRANSLATE_NOOP("phrases", "was killed by signal {0}"),
    QT_TRANSLATE_NOOP("phrases", "tritonserver did not answer within {0} seconds"),
    QT_TRANSLATE_NOOP("phrases", "the container {0}"),
    QT_TRANSLATE_NOOP("phrases", "the server did not answer ({0})"),
    QT_TRANSLATE_NOOP("phrases", "HTTP status {0}"),
    # What is wrong with a launch.
    QT_TRANSLATE_NOOP("phrases", "There is no launcher {0}; choose one of: {1}"),
    QT_TRANSLATE_NOOP("phrases", "The server listens on unix or tcp, not on {0}"),
    QT_TRANSLATE_NOOP("phrases", "The device is auto, gpu or cpu, not {0}"),
    QT_TRANSLATE_NOOP("phrases", "No model can be served ({0})"),
    QT_TRANSLATE_NOOP("phrases", "{0} is empty"),
    QT_TRANSLATE_NOOP(
        "phrases",
        "An older server is still stopping after {0} seconds (its folder is {1}); try again, or end its supervisor",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP("phrases", "The server's supervisor did not start ({0}); see {1}"),
    QT_TRANSLATE_NOOP("phrases", "The server does not stop within {0} seconds"),
    QT_TRANSLATE_NOOP("phrases", "Another start of the server does not finish; try again"),
    QT_TRANSLATE_NOOP("phrases", "The supervisor failed ({0}); see tritalk server logs"),
    QT_TRANSLATE_NOOP(
        "phrases",
        "A server is already running on Unix sockets; stop it first (tritalk server stop) to have one on TCP",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The server was not ready within {0} seconds (still {1}); see: tritalk server logs",
    ),
    QT_TRANSLATE_NOOP("phrases", "The server stopped: {0}"),
    QT_TRANSLATE_NOOP("phrases", "The server was stopped"),
    QT_TRANSLATE_NOOP("phrases", "The server ended: its supervisor was killed"),
    QT_TRANSLATE_NOOP("phrases", "The server ended before it could be kept"),
    # What the built-in Triton needs.
    QT_TRANSLATE_NOOP(
        "phrases",
        "The built-in Triton serves on the CPU; a GPU needs Docker (--launcher docker)",
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The built-in Triton runs on Linux (x86_64 or aarch64) only; install Docker or enter the address of a Triton server instead",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The built-in Triton needs glibc 2.35 or newer (found: {0}); use Debian 12, Ubuntu 22.04 or newer, or Docker",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The models run in Python 3.11 or 3.12 (numpy 1.26), and this is {0}; install python3.11 and run: make setup",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The package nvidia-pytriton, which holds the Triton server, is not installed; run: pip install 'tritalk[server]' (or: make setup)",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "This edition of Tritalk has no built-in Triton; install Docker, enter the address of a Triton server, or install the full edition",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The nvidia-pytriton package is incomplete ({0} is missing); run: pip install --force-reinstall nvidia-pytriton",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The shared library {0} is missing; run: sudo apt install libpython{1} (or build Python with --enable-shared)",  # noqa: E501
    ),
    # What is wrong with Docker: the engine.
    QT_TRANSLATE_NOOP(
        "phrases",
        "The package docker, which speaks with the engine, is not installed; run: pip install docker",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP("phrases", "The Docker context cannot be used ({0}); see: docker context ls"),
    QT_TRANSLATE_NOOP(
        "phrases",
        "You may not use the Docker engine at {0}; run: sudo usermod -aG docker $USER, then log in again",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "No Docker engine is at {0}; install Docker (https://docs.docker.com/get-docker) and start it, or use the built-in Triton (--launcher embedded)",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The Docker engine at {0} was stopped; start it (sudo systemctl start docker, or open Docker Desktop) and then the server again, or use the built-in Triton (--launcher embedded)",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The Docker engine at {0} does not answer; start Docker (sudo systemctl start docker, or open Docker Desktop), or use the built-in Triton (--launcher embedded)",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The Docker engine at {0} is on another machine, where the application's folders are not; choose a local one, or enter a Triton server's address instead",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The Docker engine at {0} is on another machine, where the application's folders are not; choose a local one, or enter a Triton server's address instead (--launcher remote)",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The Docker engine at {0} speaks another version of its API ({1})",
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The Docker engine at {0} cannot be trusted ({1}); check DOCKER_CERT_PATH and DOCKER_TLS_VERIFY",  # noqa: E501
    ),
    # What is wrong with Docker: a GPU, an image, a container.
    QT_TRANSLATE_NOOP(
        "phrases",
        "Docker cannot pass a GPU into containers here (no NVIDIA Container Toolkit, or Docker from a snap, which cannot have it); {0} (Docker: {1})",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The NVIDIA driver cannot be loaded for containers; {0} (Docker: {1})",
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "install the NVIDIA Container Toolkit (https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/), run: sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker – or start on the CPU (--device cpu)",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "install or update the driver (under WSL: the Windows driver, and none inside WSL) and check it with nvidia-smi – or start on the CPU (--device cpu)",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "Docker knows no NVIDIA GPU by CDI; run: sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml – or {0} (Docker: {1})",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The NVIDIA driver is too old for the image's CUDA; update the driver, or start on the CPU (--device cpu). (Docker: {0})",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "Docker accepts the request for a GPU, but inside the container none is visible ({0}); check nvidia-smi and the NVIDIA Container Toolkit, or start on the CPU (--device cpu)",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP("phrases", "the driver counts none"),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The disk of the Docker engine is full; make room (docker system prune removes what is not in use) and try again. (Docker: {0})",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "Another program has taken the port in the meantime; try again. (Docker: {0})",
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "Docker Desktop may not share the application's folders; add them in its settings under Resources, File sharing. (Docker: {0})",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "A container of that name is in the way; run: tritalk server stop, and try again. (Docker: {0})",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The image does not exist, or may not be pulled; check its name in the settings, or build it: tritalk server build (Docker: {0})",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The registry demands a login; run: docker login, and try again. (Docker: {0})",
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The image is not made for this machine's processor; choose another in the settings, or build it here: tritalk server build (Docker: {0})",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "What the image is made of cannot be downloaded: no network, or it needs a proxy or a mirror; check the connection, or build from a folder of wheels (tritalk server build --help). (Docker: {0})",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "pip does not find a package of the image; check the package index, or the folder of wheels, in the settings. (Docker: {0})",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "A certificate is not trusted; give your organisation's CA file (tritalk server build --ca-file FILE). (Docker: {0})",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The image holds no Triton server; choose another in the settings, or build one: tritalk server build (Docker: {0})",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "A folder that the server needs does not exist for the Docker engine; is the engine on another machine? Use its address as a remote server instead. (Docker: {0})",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The memory limit in the settings is too small for a container; raise it. (Docker: {0})",
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "Triton releases before 26.07 are not supported; choose 26.07 or newer. (Docker: {0})",
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "Docker failed while {0}: {1}",
    ),
    QT_TRANSLATE_NOOP("phrases", "starting the container"),
    QT_TRANSLATE_NOOP("phrases", "looking for older containers"),
    QT_TRANSLATE_NOOP("phrases", "looking for the image"),
    QT_TRANSLATE_NOOP("phrases", "pulling the image"),
    QT_TRANSLATE_NOOP("phrases", "building the image"),
    QT_TRANSLATE_NOOP("phrases", "building"),
    QT_TRANSLATE_NOOP("phrases", "asking for a GPU"),
    QT_TRANSLATE_NOOP("phrases", "creating the container"),
    QT_TRANSLATE_NOOP("phrases", "the build ended without an image"),
    # What is wrong with how an image is to be built.
    QT_TRANSLATE_NOOP("phrases", "The image has the targets cpu and gpu, not {0}"),
    QT_TRANSLATE_NOOP("phrases", "The CA file {0} does not exist"),
    QT_TRANSLATE_NOOP("phrases", "There are no wheels (*.whl) in {0}"),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The Triton release is a year and month such as 26.07, and not older than that: {0} is not",
    ),
    # What is wrong with a remote server.
    QT_TRANSLATE_NOOP(
        "phrases",
        "No address of a remote Triton is set; put it into the settings (remote.url) or TRITALK_REMOTE_URL, such as grpc://triton.example.org:8001",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "{0} is no address of a Triton server; write grpc://host:8001 (grpcs:// with TLS) or http://host:8000 (https:// with TLS), without a path",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP("phrases", "A CA file is set, but {0} is an address without TLS (grpcs://)"),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The Triton server at {0} does not answer; is it running, and is the address right? ({1})",
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The Triton server at {0} cannot be trusted, or speaks no TLS; give the CA file that signed its certificate (remote.ca_file). ({1})",  # noqa: E501
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The Triton server at {0} speaks TLS; write its address with grpcs://",
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The Triton server at {0} refuses the access token; check remote.token and remote.header",
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The Triton server at {0} is unknown to the network; check the address (remote.url)",
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "The Triton server at {0} does not answer in time; check the address and the firewall",
    ),
    # What is wrong with the settings.
    QT_TRANSLATE_NOOP("phrases", "{0} cannot be read ({1}); mend or remove it"),
    QT_TRANSLATE_NOOP("phrases", "{0} does not hold a JSON object; mend or remove it"),
    QT_TRANSLATE_NOOP("phrases", "{0}: there is no setting {1}"),
    QT_TRANSLATE_NOOP("phrases", "{0}: {1} is a JSON object"),
    QT_TRANSLATE_NOOP("phrases", "{0} is one of {1}, not {2}"),
    QT_TRANSLATE_NOOP("phrases", "{0} is true or false, not {1}"),
    QT_TRANSLATE_NOOP("phrases", "{0} is a text, not {1}"),
    QT_TRANSLATE_NOOP("phrases", "{0} holds no numbers: {1}"),
    QT_TRANSLATE_NOOP("phrases", "{0} is a list of numbers such as [0, 1], not {1}"),
    QT_TRANSLATE_NOOP("phrases", "{0} gives each model a number from 1, not {1}"),
    # What is wrong with models and metrics.
    QT_TRANSLATE_NOOP("phrases", "the server does not have the model ready: {0}"),
    QT_TRANSLATE_NOOP("phrases", "the server does not tell its models"),
    QT_TRANSLATE_NOOP("phrases", "{0} could not be loaded: {1}"),
    QT_TRANSLATE_NOOP("phrases", "{0} could not be unloaded: {1}"),
    QT_TRANSLATE_NOOP("phrases", "this server was not started with --model-control-mode=explicit"),
    QT_TRANSLATE_NOOP("phrases", "this server demands a key for it"),
    QT_TRANSLATE_NOOP("phrases", "the server does not answer"),
    QT_TRANSLATE_NOOP("phrases", "this server tells no metrics"),
    QT_TRANSLATE_NOOP("phrases", "the server's metrics do not answer"),
    QT_TRANSLATE_NOOP("phrases", "the server's metrics answered with HTTP status {0}"),
)
