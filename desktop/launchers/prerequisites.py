"""The Triton inside the ``nvidia-pytriton`` wheel: where its parts are, or what is missing."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from desktop import interpreter
from desktop.launchers.base import LaunchError

PYTHONS = ((3, 11), (3, 12))
GLIBC = (2, 35)


@dataclass(frozen=True)
class TritonWheel:
    """The parts of an embedded server. ``python_bin`` goes to the front of PATH: the stub asks it
    (and not PYTHONPATH, which it ignores) where the packages of the models are."""

    binary: Path
    libraries: Path
    python_backend: Path
    stub: Path
    libpython_dir: Path
    python_bin: Path


def find_triton() -> TritonWheel:
    """Find everything an embedded server needs.

    Raises :class:`LaunchError` with one sentence for the first thing that is missing.
    """
    check_platform()
    check_python()
    package = find_package()
    triton = package / "tritonserver"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    bundled = interpreter.runtime()
    wheel = TritonWheel(
        binary=triton / "bin" / "tritonserver",
        libraries=package.parent / "nvidia_pytriton.libs",
        python_backend=triton / "backends" / "python",
        stub=triton / "python_backend_stubs" / version / "triton_python_backend_stub",
        libpython_dir=find_libpython(),
        python_bin=bundled / "bin" if bundled else Path(sys.executable).parent,
    )
    for part in (wheel.binary, wheel.libraries, wheel.python_backend, wheel.stub):
        if not part.exists():
            raise LaunchError(
                f"The nvidia-pytriton package is incomplete ({part} is missing); "
                "run: pip install --force-reinstall nvidia-pytriton"
            )
    return wheel


def check_platform() -> str:
    """The C library in words. Raises :class:`LaunchError` where the binary cannot run."""
    if sys.platform != "linux" or platform.machine() not in {"x86_64", "aarch64"}:
        raise LaunchError(
            "The built-in Triton runs on Linux (x86_64 or aarch64) only; install Docker or enter "
            "the address of a Triton server instead."
        )
    try:
        name = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        name = ""
    numbers = name.removeprefix("glibc ").split(".")
    if not name.startswith("glibc ") or tuple(map(int, numbers[:2])) < GLIBC:
        raise LaunchError(
            "The built-in Triton needs glibc 2.35 or newer "
            f"(found: {name or 'another C library'}); "
            "use Debian 12, Ubuntu 22.04 or newer, or Docker."
        )
    return name


def check_python() -> str:
    """The Python version. Raises :class:`LaunchError` where the models cannot run in it."""
    if sys.version_info[:2] not in PYTHONS:
        raise LaunchError(
            f"The models run in Python 3.11 or 3.12 (numpy 1.26), and this is "
            f"{platform.python_version()}; install python3.11 and run: make setup"
        )
    return platform.python_version()


def find_package() -> Path:
    """The folder of the ``pytriton`` package, found without importing it."""
    if bundled := interpreter.site_packages():
        return bundled / "pytriton"
    if interpreter.lite():
        raise LaunchError(
            "This edition of Tritalk has no built-in Triton; install Docker, enter the address of "
            "a Triton server, or install the full edition."
        )
    spec = importlib.util.find_spec("pytriton")
    if spec is None or spec.origin is None:
        raise LaunchError(
            "The package nvidia-pytriton, which holds the Triton server, is not installed; "
            "run: pip install 'tritalk[server]' (or: make setup)"
        )
    return Path(spec.origin).parent


def find_libpython() -> Path:
    """The folder of the shared library of the running Python, which the models' stub loads."""
    if bundled := interpreter.runtime():
        return bundled / "lib"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    name = f"libpython{version}.so.1.0"
    multiarch = sysconfig.get_config_var("MULTIARCH") or f"{platform.machine()}-linux-gnu"
    folders = [
        sysconfig.get_config_var("LIBDIR"),
        f"{sys.base_prefix}/lib",
        f"{sys.base_prefix}/lib/{multiarch}",
        f"/usr/lib/{multiarch}",
        "/usr/lib64",
        "/usr/local/lib",
    ]
    for folder in folders:
        if folder and Path(folder, name).exists():
            return Path(folder)
    try:
        # Loading it also finds what only the dynamic loader's own configuration knows.
        ctypes.CDLL(name)
        return Path("/usr/lib")
    except OSError:
        raise LaunchError(
            f"The shared library {name} is missing; run: sudo apt install libpython{version} "
            "(or build Python with --enable-shared)"
        ) from None
