"""``tritalk``: without a command the window, or without a display the same job in the terminal."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import signal
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from desktop.cli import chat, demo, display, doctor, models, parse, server
from desktop.launchers.base import LaunchError
from desktop.paths import UnsafeFolder
from desktop.triton.types import InvalidInput, TritalkError


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tritalk",
        description="Chat with a Chinese GPT and clean Chinese addresses on your own Triton.",
        epilog="Without a command the window opens. Exit codes: 0 done, 1 failed, 2 wrong input.",
    )
    parser.add_argument("--version", action="version", version=f"tritalk {version('tritalk')}")
    parser.set_defaults(func=open_window)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    files = commands.add_parser("open", help="open the window, and files in it")
    files.add_argument(
        "files", nargs="*", metavar="FILE", help="a table of addresses, or an exported conversation"
    )
    files.set_defaults(func=open_files)
    for module in (chat, parse, models, server, doctor):
        module.add_parser(commands)
    return parser


def open_window(arguments: argparse.Namespace) -> int:
    problem = display.problem()
    if not problem and sys.platform == "linux" and not os.environ.get("QT_QPA_PLATFORM"):
        missing = doctor.qt_problem()
        problem = f"The window cannot open: {missing}." if missing else ""
    if problem:
        print(f"{problem} Doing the same job in the terminal.", flush=True)
        return demo.run()
    from desktop.app import run_window

    return run_window(sys.argv)


def open_files(arguments: argparse.Namespace) -> int:
    if not arguments.files:
        return open_window(arguments)
    for name in arguments.files:
        if not Path(name).is_file():
            raise InvalidInput(f"there is no file {name}")
    if problem := display.problem():
        raise LaunchError(f"{problem} Use tritalk parse FILE in the terminal.")
    from desktop.app import run_window

    return run_window(sys.argv[:1], arguments.files)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):  # Chinese must come out whatever the locale says
        with contextlib.suppress(AttributeError):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    with contextlib.suppress(AttributeError):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]
    # A closed terminal or a `kill` ends us like Ctrl+C: leases are released on the way out.
    signal.signal(signal.SIGTERM, _interrupt)
    with contextlib.suppress(AttributeError):
        signal.signal(signal.SIGHUP, _interrupt)
    arguments = build_parser().parse_args(_utf8(sys.argv[1:]) if argv is None else argv)
    try:
        return int(arguments.func(arguments))
    except InvalidInput as error:
        return _fail(error, 2)
    except (TritalkError, LaunchError, UnsafeFolder) as error:
        return _fail(error, 1)
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO, errno.EBADF, errno.EPIPE):
            raise
        if error.errno != errno.EPIPE:  # the reader of our output has enough, as `head` does
            with contextlib.suppress(OSError):
                print(f"tritalk: the output cannot be written: {error.strerror}", file=sys.stderr)
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0 if error.errno == errno.EPIPE else 1


def _replace_closed_streams() -> None:
    """Started with a standard stream closed (``<&-``), Python has None in its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def _utf8(words: list[str]) -> list[str]:
    # In the C locale Python reads the bytes of Chinese arguments as surrogates.
    return [os.fsencode(word).decode("utf-8", "surrogateescape") for word in words]


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _fail(error: Exception, code: int) -> int:
    print(f"tritalk: {error}", file=sys.stderr)
    return code
