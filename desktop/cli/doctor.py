"""``tritalk doctor``: what this machine offers, each line ok or what to do."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from desktop import input_method, interpreter, paths
from desktop.launchers import choice, docker_engine, prerequisites
from desktop.launchers.base import LaunchError

_MIN_DISK = 1 << 30
_MIN_SHARED_MEMORY = 64 << 20
# Debian's and Ubuntu's names of what Qt's xcb plugin needs from the system.
_QT_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}
_CJK_FONTS = ("cjk", "sourcehan", "wqy", "droidsansfallback", "uming", "ukai", "simsun", "msyh")
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")


@dataclass(frozen=True)
class Check:
    """One line: ``detail`` is what was found, or what to do. Only a ``needed`` one is an error."""

    name: str
    ok: bool
    detail: str
    needed: bool = True


class _Problem(Exception):
    """What is wrong with one check and what to do about it."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("doctor", help="check what this machine offers")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.set_defaults(func=doctor)


def doctor(arguments: argparse.Namespace) -> int:
    """Exit code 0 where nothing needed is missing, else 1."""
    checks = examine()
    healthy = all(check.ok for check in checks if check.needed)
    if arguments.json:
        found = {"ok": healthy, "checks": [asdict(check) for check in checks]}
        print(json.dumps(found, ensure_ascii=False))
    else:
        for check in checks:
            mark = "ok     " if check.ok else "MISSING" if check.needed else "none   "
            print(f"{mark} {check.name:15} {check.detail}")
    return 0 if healthy else 1


def examine() -> list[Check]:
    """All checks, in the order of their importance; none raises."""
    display = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    # The lite edition lacks the built-in server on purpose.
    own = not interpreter.lite()
    built_in = [
        ("libpython", lambda: str(prerequisites.find_libpython())),
        ("numpy", _numpy),
        ("torch", lambda: _version("torch")),
    ]
    return [
        _check("Python", prerequisites.check_python),
        _check("system", prerequisites.check_platform),
        _check("Triton", _triton, needed=own),
        *(_check(name, look) for name, look in built_in if own),
        _check("runtime folder", lambda: str(paths.runtime_dir())),
        _check("disk", _disk),
        _check("shared memory", _shared_memory),
        _check("free ports", _free_port),
        _check("Qt libraries", _qt, needed=display),
        _check("Chinese font", _font, needed=display),
        _check("input method", _input_method, needed=False),
        _check("Docker engine", _docker, needed=False),
        _check("NVIDIA GPU", _gpu, needed=False),
    ]


def _check(name: str, look: Callable[[], str], needed: bool = True) -> Check:
    try:
        return Check(name, True, look(), needed)
    except (_Problem, LaunchError, paths.UnsafeFolder, OSError) as error:
        return Check(name, False, str(error), needed)


def _triton() -> str:
    package = prerequisites.find_package()
    binary = package / "tritonserver" / "bin" / "tritonserver"
    if not os.access(binary, os.X_OK):
        raise _Problem(
            f"{binary} cannot be run; run: pip install --force-reinstall nvidia-pytriton"
        )
    return f"{binary} (nvidia-pytriton {_version('nvidia-pytriton')})"


def _version(package: str) -> str:
    try:
        return interpreter.distribution(package).version
    except importlib.metadata.PackageNotFoundError:
        todo = "" if interpreter.frozen() else "; run: make setup"
        raise _Problem(f"{package} is not installed{todo}") from None


def _numpy() -> str:
    version = _version("numpy")
    if int(version.split(".")[0]) >= 2:
        raise _Problem(
            f"numpy {version} breaks Triton's Python models; run: pip install 'numpy>=1.26,<2'"
        )
    return version


def _disk() -> str:
    folder = paths.cache_dir()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free < _MIN_DISK:
        raise _Problem(f"only {free >> 20} MiB are free at {folder}; make room for 1 GiB")
    return f"{free / (1 << 30):.1f} GiB free at {folder}"


def _shared_memory() -> str:
    free = shutil.disk_usage("/dev/shm").free
    if free < _MIN_SHARED_MEMORY:
        raise _Problem(
            f"only {free >> 20} MiB are free in /dev/shm, and the models pass tensors through it; "
            "run: mount -o remount,size=1G /dev/shm"
        )
    return f"{free >> 20} MiB free in /dev/shm"


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1 has some, such as {probe.getsockname()[1]} (only --listen tcp uses them)"


def qt_problem() -> str:
    """Why no window can be shown here although there is a display; empty where one can."""
    try:
        _qt()
    except _Problem as problem:
        return str(problem)
    return ""


def _qt() -> str:
    spec = importlib.util.find_spec("PySide6")
    if spec is None or spec.origin is None:
        raise _Problem("PySide6 is not installed; run: make setup")
    plugin = Path(spec.origin).parent / "Qt" / "plugins" / "platforms" / "libqxcb.so"
    if not plugin.exists():
        raise _Problem(
            f"{plugin} is missing; run: pip install --force-reinstall pyside6-essentials"
        )
    listed = subprocess.run(
        ["ldd", plugin],
        capture_output=True,
        text=True,
        check=False,
        env=interpreter.loader_environment(),
    ).stdout
    missing = sorted({line.split()[0] for line in listed.splitlines() if "not found" in line})
    if missing:
        packages = " ".join(sorted({_QT_PACKAGES.get(name, name) for name in missing}))
        raise _Problem(f"the window needs {', '.join(missing)}; run: sudo apt install {packages}")
    return f"PySide6 {_version('PySide6_Essentials')}, all libraries of its xcb plugin found"


def _font() -> str:
    if shutil.which("fc-list"):
        command = ["fc-list", ":lang=zh", "family"]
        listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        if families := sorted(set(listed.splitlines())):
            return families[0]
    else:
        for folder in _FONT_FOLDERS:
            for file in Path(folder).expanduser().rglob("*.[ot]t[fc]"):
                if any(name in file.name.lower().replace("-", "") for name in _CJK_FONTS):
                    return str(file)
    raise _Problem("Chinese text would show as squares; run: sudo apt install fonts-noto-cjk")


def _input_method() -> str:
    found = input_method.look(os.environ, input_method.qt_plugins(), input_method.running())
    if not found.ok:
        raise _Problem(found.detail)
    return found.detail


def _docker() -> str:
    try:
        engine = docker_engine.connect(timeout=3.0)
    except LaunchError as error:
        raise _Problem(f"{error} (not needed)") from error
    engine.close()
    kind = "rootless, " if engine.rootless else ""
    gpu = "offers NVIDIA GPUs" if engine.offers_gpu else "no NVIDIA runtime"
    return f"{engine.address} ({kind}version {engine.version}, {gpu})"


def _gpu() -> str:
    if not choice.nvidia_gpu():
        raise _Problem("no driver found; not needed, the models run on the CPU")
    version = Path("/proc/driver/nvidia/version")
    return version.read_text().splitlines()[0] if version.exists() else "found"
