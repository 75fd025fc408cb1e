"""Collects the licences of what a bundle contains: ``python licences.py dist/tritalk``.

Into ``licences/`` go the texts that each package brings, a folder a package, and ``INDEX.txt``, a
line a package with its version and licence. ``tritalk`` itself comes first.
"""

from __future__ import annotations

import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

import runtime

# Of transformers, which only the models use, the application loads the hub's client.
APPLICATION = ("tritalk", "huggingface-hub")
NOT_IN_IT = ("transformers",)
_TEXT = re.compile(r"(^|/)(LICEN[CS]E|COPYING|NOTICE|LicenseRef|[\w.-]*LICEN[CS]E)[^/]*$", re.I)


def distributions(*, full: bool) -> list[metadata.Distribution]:
    """Of the application with all it depends on, and of the models' runtime where it is there."""
    names = runtime.needed(*APPLICATION, unused=NOT_IN_IT)
    names += [name for name in runtime.needed() if name not in names] if full else []
    return [metadata.distribution(name) for name in names]


def licence(distribution: metadata.Distribution) -> str:
    """As the package declares it, in one line."""
    about = distribution.metadata
    for value in (about.get("License-Expression"), about.get("License")):
        if value and value.strip() not in ("", "UNKNOWN"):
            return str(value).strip().splitlines()[0][:120]
    found = [c.rpartition(" :: ")[2] for c in about.get_all("Classifier") or [] if "License" in c]
    return ", ".join(found) or "see its texts"


def index(found: list[metadata.Distribution]) -> str:
    return "".join(f"{d.metadata['Name']} {d.version}: {licence(d)}\n" for d in found)


def main() -> int:
    bundle = Path(sys.argv[1])
    folder = bundle / "licences"
    shutil.rmtree(folder, ignore_errors=True)
    found = distributions(full=(bundle / "server").exists())
    for distribution in found:
        for file in distribution.files or []:
            source = Path(str(distribution.locate_file(file)))
            if ".dist-info/" in str(file) and _TEXT.search(str(file)) and source.is_file():
                place = folder / distribution.metadata["Name"] / str(file).partition("/")[2]
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, place)
    python = folder / "Python" / "LICENSE.txt"
    python.parent.mkdir(parents=True)
    text = Path(sys.base_prefix, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    if (text / "LICENSE.txt").exists():
        shutil.copyfile(text / "LICENSE.txt", python)
    else:
        python.write_text("The licence of Python: https://docs.python.org/3/license.html\n")
    (folder / "INDEX.txt").write_text(index(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
