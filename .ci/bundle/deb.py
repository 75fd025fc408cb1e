"""Makes a Debian package of a bundle: ``python deb.py dist/tritalk dist`` (or dist/tritalk-lite).

The bundle goes to /usr/lib/tritalk, beside it the command, the menu entry, icons, AppStream
metadata and the copyright file. Prints the path of the package. What it depends on is found out by
asking the dynamic loader which libraries outside the bundle its files load.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import icons
import licences

ROOT = Path(__file__).resolve().parents[2]
DESKTOP = ROOT / "resources" / "desktop"
# Read by libfontconfig, which is in the bundle.
FOUND_BY_NAME = ("fontconfig-config",)
# Loaded by name where they are there (input methods, desktop themes), or by OpenGL.
RECOMMENDED = "fonts-noto-cjk, libgl1, libegl1, dbus-user-session"
# Python running as root writes bytecode for what was not compiled; nothing of it may stay. Before
# the removal, as a script for after it would itself stay until a purge.
PRERM = """\
#!/bin/sh
set -e
find /usr/lib/tritalk -name __pycache__ -prune -exec rm -rf {} +
"""
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Tritalk
Comment: Made from the bundle; the texts of every licence are in /usr/lib/tritalk/licences.
 What is in it, with its licence:
{index}

Files: *
Copyright: The Tritalk developers, and the authors of the components named above
License: Apache-2.0
 On Debian systems the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
"""


def system_packages(bundle: Path) -> list[str]:
    """The Debian packages of the libraries outside the bundle that its files load.

    Raises RuntimeError where one is found nowhere.
    """
    programs = [
        path
        for path in bundle.rglob("*")
        if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF"
    ]
    folders = [bundle / "_internal", bundle / "server" / "lib"]
    folders += [*bundle.glob("server/lib/python3.*/site-packages/nvidia_pytriton.libs")]
    env = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(map(str, folders))}
    outside, missing = set(), set()
    for start in range(0, len(programs), 100):
        some = [str(path) for path in programs[start : start + 100]]
        done = subprocess.run(["ldd", *some], capture_output=True, text=True, env=env, check=False)
        missing |= set(re.findall(r"^\s*(\S+) => not found", done.stdout, re.MULTILINE))
        found = re.findall(r"=> (/\S+)", done.stdout)
        outside |= {path for path in found if not path.startswith(str(bundle))}
    # CUDA's are asked for by files that only a GPU build uses.
    missing = {name for name in missing if not re.match(r"lib(cuda|nv|dcgm|cudnn)", name)}
    if missing:
        raise RuntimeError(f"the bundle loads what is nowhere: {', '.join(sorted(missing))}")
    names = sorted({re.sub(r"^/(usr/)?lib/", "", path) for path in outside})
    done = subprocess.run(
        ["dpkg-query", "--search", *(f"*/{name}" for name in names)],
        capture_output=True,
        text=True,
        check=False,
    )
    return sorted({line.partition(":")[0] for line in done.stdout.splitlines()} - {"libc6"})


def stage(bundle: Path, package: Path, name: str) -> None:
    """Lay the files out below ``package`` as they will lie below /."""
    shutil.copytree(bundle, package / "usr/lib/tritalk", symlinks=True, copy_function=_link)
    command = package / "usr/bin/tritalk"
    command.parent.mkdir(parents=True)
    command.symlink_to("../lib/tritalk/tritalk")
    share = package / "usr/share"
    icons.make(share / "icons/hicolor")
    (share / "icons/hicolor/tritalk.ico").unlink()
    for file, folder in (
        ("tritalk.desktop", "applications"),
        ("org.tritalk.Tritalk.metainfo.xml", "metainfo"),
    ):
        (share / folder).mkdir(parents=True)
        shutil.copyfile(DESKTOP / file, share / folder / file)
    document = share / "doc" / name
    document.mkdir(parents=True)
    found = licences.distributions(full=(bundle / "server").exists())
    index = "".join(f"  {line}\n" for line in licences.index(found).splitlines()).rstrip()
    (document / "copyright").write_text(COPYRIGHT.format(index=index), encoding="utf-8")
    for path in package.rglob("*"):
        if not path.is_symlink():
            executable = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(0o755 if executable else 0o644)
    package.chmod(0o755)


def _link(source: str, target: str) -> None:
    """A gigabyte is not copied where it need not be."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def control(package: Path, name: str, depends: list[str]) -> None:
    files = sorted(p for p in package.rglob("*") if p.is_file() and not p.is_symlink())
    size = sum(path.stat().st_size for path in files) // 1024
    sums = [f"{_md5(path)}  {path.relative_to(package)}\n" for path in files]
    about = metadata.metadata("tritalk")
    arch = subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip()
    glibc = (os.confstr("CS_GNU_LIBC_VERSION") or "").removeprefix("glibc ")
    other = "tritalk-lite" if name == "tritalk" else "tritalk"
    lite = " Without the built-in Triton: for Docker and remote servers.\n"
    text = (
        f"Package: {name}\nVersion: {about['Version']}\nArchitecture: {arch}\n"
        "Maintainer: The Tritalk developers <tritalk@localhost>\n"
        f"Installed-Size: {size}\nSection: science\nPriority: optional\n"
        f"Depends: {', '.join([f'libc6 (>= {glibc})', *sorted({*depends, *FOUND_BY_NAME})])}\n"
        f"Recommends: {RECOMMENDED}\nSuggests: docker.io\n"
        f"Conflicts: {other}\nReplaces: {other}\n"
        "Description: Chinese chat and address parsing on your own Triton server\n"
        f" {about['Summary']}.\n{lite if name == 'tritalk-lite' else ''}"
    )
    folder = package / "DEBIAN"
    folder.mkdir(mode=0o755)
    (folder / "control").write_text(text, encoding="utf-8")
    (folder / "md5sums").write_text("".join(sums), encoding="utf-8")
    (folder / "prerm").write_text(PRERM)
    (folder / "prerm").chmod(0o755)


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def main() -> int:
    bundle, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    name = bundle.name
    depends = system_packages(bundle)
    with tempfile.TemporaryDirectory(dir=out) as folder:
        package = Path(folder) / name
        package.mkdir()
        stage(bundle, package, name)
        control(package, name, depends)
        subprocess.run(
            ["dpkg-deb", "-Zzstd", "-z6", "--root-owner-group", "--build", str(package), str(out)],
            check=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
