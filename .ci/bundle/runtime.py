"""Makes the relocatable Python of the bundle: ``python runtime.py FOLDER``.

The running interpreter's standard library and shared library, and of its packages those that the
models need, copied file by file as the package records list them. What a server never reads is left
out: headers, tests, command line tools.
"""

from __future__ import annotations

import compileall
import importlib.metadata as metadata
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from desktop.launchers.prerequisites import find_libpython

ROOT = Path(__file__).resolve().parents[2]
# With everything they depend on; nvidia-pytriton's own dependencies serve its Python API only, of
# which nothing but the server inside the wheel is used.
PACKAGES = ("torch", "numpy", "safetensors", "transformers")
ALONE = ("nvidia-pytriton",)
NO_LIBRARY = (
    "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3", "pydoc_data",
    "site-packages", "dist-packages", "__pycache__", "curses", "turtle.py",
)  # fmt: skip
LEFT_OUT = re.compile(
    r"^torch/(include|share|test|bin|utils/(benchmark|tensorboard|model_dump|hipify))/"
    r"|^torch/lib/.*\.(a|lib)$|^torch/testing/_internal/(?!__init__)"
    r"|^torchgen/|^functorch/|/__pycache__/|^sympy/.*/tests/|^networkx/.*/tests/"
    r"|^numpy/.*/tests/|^pytriton/(?!tritonserver|__init__)|\.pyi$|^\.\./"
)


def needed() -> list[str]:
    """The distributions to copy, dependencies included."""
    found: dict[str, None] = {}
    waiting = list(PACKAGES)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        found[name] = None
        for requirement in metadata.distribution(name).requires or []:
            words, _, marker = requirement.partition(";")
            if "extra ==" in marker:
                continue
            other = re.match(r"[\w.-]+", words)
            try:
                if other:
                    metadata.distribution(other[0])
                    waiting.append(other[0])
            except metadata.PackageNotFoundError:
                pass  # for other systems
    return [*found, *ALONE]


def copy_library(target: Path) -> None:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    source = Path(sysconfig.get_path("stdlib"))
    library = target / "lib" / version
    ignore = shutil.ignore_patterns(*NO_LIBRARY, "config-*", "*.a")
    shutil.copytree(source, library, ignore=ignore, dirs_exist_ok=True)
    (library / "site-packages").mkdir()
    # Debian's Python looks for packages under another name.
    (library / "dist-packages").symlink_to("site-packages")
    python = target / "bin" / "python3"
    python.parent.mkdir()
    shutil.copy2(Path(sys.executable).resolve(), python)
    (python.parent / version).symlink_to("python3")
    name = f"lib{version}.so.1.0"
    shutil.copy2(find_libpython() / name, target / "lib" / name)
    linked = subprocess.run(["ldd", str(python)], capture_output=True, text=True, check=True)
    if name in linked.stdout:
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN/../lib", str(python)], check=True)


def copy_packages(target: Path) -> None:
    (packages,) = target.glob("lib/python3.*/site-packages")
    for name in needed():
        distribution = metadata.distribution(name)
        for file in distribution.files or []:
            if LEFT_OUT.search(str(file)):
                continue
            source = Path(str(distribution.locate_file(file)))
            if source.is_file():
                place = packages / str(file)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, place, follow_symlinks=True)


def main() -> int:
    target = Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    copy_library(target)
    copy_packages(target)
    compileall.compile_dir(target / "lib", quiet=2, workers=2, invalidation_mode=None)
    check = "import numpy, torch, safetensors, transformers; print(torch.ones(2).sum())"
    subprocess.run([str(target / "bin" / "python3"), "-I", "-c", check], check=True, cwd="/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
