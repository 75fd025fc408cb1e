"""Which Python runs our own helper processes, and which one has the packages of the models.

Installed as a package, both are the running interpreter. In a bundle the program is one
executable that also runs modules (``tritalk -m desktop.launchers.supervisor``), and the models'
packages lie in a relocatable Python beside it, ``server/``; the lite variant has none.
"""

from __future__ import annotations

import os
import runpy
import sys
from importlib import metadata
from pathlib import Path

_RUNTIME = "server"


def frozen() -> bool:
    """Whether this is the bundle's executable."""
    return bool(getattr(sys, "frozen", False))


def runtime() -> Path | None:
    """The relocatable Python of a bundle; None where there is none."""
    if not frozen():
        return None
    folder = Path(sys.executable).resolve().parent / _RUNTIME
    return folder if (folder / "bin" / "python3").exists() else None


def lite() -> bool:
    """Whether this is the bundle that has no runtime for the models, hence no built-in server."""
    return frozen() and runtime() is None


def running(module: str) -> str:
    """The interpreter that ``-m module`` runs in: what serves and converts models needs torch.
    In a lite bundle it is the executable for all of them, which cannot import it."""
    folder = runtime() if module.split(".", maxsplit=1)[0] == "server_bundle" else None
    return str(folder / "bin" / "python3") if folder else sys.executable


def search_path(root: Path) -> str:
    """What PYTHONPATH a process needs to find the application's modules in ``root``. A bundle's
    processes find them by themselves, and must not find the libraries that lie beside them."""
    if frozen():
        return ""
    return os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")]))


def site_packages() -> Path | None:
    """Where the packages of a bundle's runtime are."""
    folder = runtime()
    if folder is None:
        return None
    (found,) = folder.glob("lib/python3.*/site-packages")
    return found


def distribution(package: str) -> metadata.Distribution:
    """What is installed of a package, in a bundle that of the models' Python first.

    Raises PackageNotFoundError.
    """
    if folder := site_packages():
        for found in metadata.distributions(name=package, path=[str(folder)]):
            return found
    return metadata.distribution(package)


def loader_environment() -> dict[str, str]:
    """An environment in which the dynamic loader finds libraries as it does for this process."""
    inside = getattr(sys, "_MEIPASS", "")
    return {**os.environ, "LD_LIBRARY_PATH": inside} if inside else dict(os.environ)


def clean_environment() -> None:
    """Take back what the bundle's start-up added for this process alone: its children are other
    programs, and must not find the bundle's libraries before their own."""
    if not frozen():
        return
    # A child that is this executable too then sets itself up, and does not rely on this process.
    os.environ["PYINSTALLER_RESET_ENVIRONMENT"] = "1"
    original = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    if original is not None:
        os.environ["LD_LIBRARY_PATH"] = original
    else:
        os.environ.pop("LD_LIBRARY_PATH", None)


def run_as_python(arguments: list[str]) -> bool:
    """In a bundle, do what Python would with ``-m MODULE …`` or ``FILE …`` (after ``-I``, ``-S`` or
    ``-P``, which change nothing here). False where the arguments are the program's own."""
    rest = list(arguments[1:])
    while rest and rest[0] in ("-I", "-S", "-P", "-B", "-u"):
        rest.pop(0)
    if not frozen() or not rest:
        return False
    if rest[0] == "-m" and len(rest) > 1 and rest[1].split(".")[0] in ("desktop", "server_bundle"):
        sys.argv = rest[1:]
        runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
        return True
    inside = Path(getattr(sys, "_MEIPASS", "")).resolve()
    if rest[0].endswith(".py") and inside in Path(rest[0]).resolve().parents:
        sys.argv = rest
        runpy.run_path(rest[0], run_name="__main__")
        return True
    return False
