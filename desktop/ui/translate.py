"""Bring the translation files up to date: ``python -m desktop.ui.translate``.

Collects the strings of ``desktop/ui`` into the ``.ts`` files (English ones need only plural forms)
and compiles them to ``.qm``, with the tools that PySide6 brings.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import PySide6

from desktop.ui.theme import RESOURCES

TRANSLATIONS = RESOURCES / "translations"
SOURCES = Path(__file__).resolve().parent


def update(folder: Path = TRANSLATIONS) -> None:
    """Collect the strings. Raises :class:`subprocess.CalledProcessError` if lupdate fails."""
    sources = [str(path) for path in sorted(SOURCES.glob("*.py"))]
    common = ["-silent", "-no-obsolete", "-locations", "none", "-source-language", "en_US"]
    for name, extra in (("zh_CN", []), ("en", ["-pluralonly"])):
        target = folder / f"tritalk_{name}.ts"
        _run("lupdate", *sources, *common, *extra, "-target-language", name, "-ts", str(target))


def compile_all(folder: Path = TRANSLATIONS) -> None:
    """Compile every ``.ts`` to a ``.qm`` beside it."""
    for source in sorted(folder.glob("*.ts")):
        # Moved into place: a running window has the old file mapped, and would die of its change.
        made = source.with_suffix(".qm.new")
        _run("lrelease", "-silent", str(source), "-qm", str(made))
        made.replace(source.with_suffix(".qm"))


def tool_path(tool: str) -> Path:
    """Where PySide6 keeps one of its tools."""
    package = Path(PySide6.__file__).parent
    return next(p for p in (package / tool, package / f"{tool}.exe") if p.exists())


def _run(tool: str, *arguments: str) -> None:
    subprocess.run([str(tool_path(tool)), *arguments], check=True)


def main() -> int:
    update()
    compile_all()
    return 0


if __name__ == "__main__":
    sys.exit(main())
