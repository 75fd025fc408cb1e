"""``tritalk server start | status | stop | logs | build``: the server as something of its own."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from pathlib import Path

from desktop import paths
from desktop.cli import image
from desktop.launchers import LAUNCHERS, acquire, capture, current
from desktop.launchers.base import LaunchError, ServerState, ServerStatus
from desktop.launchers.lease import SupervisorLease
from desktop.launchers.supervised import kept_launches, stop_running

# A first start may pull an image of many gigabytes.
_START_WITHIN = 3 * 3600.0


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``server`` with its commands; each sets ``func``, which returns the exit code."""
    parser = subparsers.add_parser("server", help="start, inspect and stop the Triton server")
    commands = parser.add_subparsers(dest="server_command", required=True, metavar="COMMAND")

    command = commands.add_parser("start", help="start a server that runs until it is stopped")
    command.add_argument(
        "--listen",
        choices=("unix", "tcp"),
        default="",
        help="unix: sockets in a private folder; tcp: loopback ports and a key, which other users "
        "of this machine can read in the process list (default: the settings', else unix)",
    )
    command.add_argument(
        "--launcher",
        choices=LAUNCHERS,
        default="",
        help="how it comes to be (default: the settings', else auto)",
    )
    command.add_argument(
        "--device",
        choices=("auto", "gpu", "cpu"),
        default="",
        help="what the models run on (default: the settings', else auto)",
    )
    command.set_defaults(func=start)

    image.add_parser(commands)

    command = commands.add_parser("status", help="say whether a server runs, and where it listens")
    command.add_argument("--json", action="store_true", help="one JSON object")
    command.set_defaults(func=status)

    command = commands.add_parser("stop", help="stop the server, whoever uses it")
    command.set_defaults(func=stop)

    command = commands.add_parser("logs", help="show what the server has printed")
    command.add_argument("-n", type=_count, default=50, metavar="N", help="the last N lines (50)")
    command.add_argument("--follow", action="store_true", help="go on as lines arrive")
    command.set_defaults(func=logs)


def start(arguments: argparse.Namespace) -> int:
    """Start a server and leave it running, or find the one that runs and keep it. A remote one
    is only looked at."""
    try:
        lease = acquire(arguments.launcher, listen=arguments.listen, device=arguments.device)
    except LaunchError as error:
        return _complain(error)
    with contextlib.closing(lease):
        shown = ""

        def show(now: ServerStatus) -> None:
            nonlocal shown
            if now.message != shown:
                shown = now.message
                print(now.message, file=sys.stderr, flush=True)

        lease.subscribe(show)
        try:
            ready = lease.wait_ready(_START_WITHIN)
            if isinstance(lease, SupervisorLease):
                lease.keep()
        except LaunchError as error:
            return _complain(error)
    print(_describe(ready))
    return 0


def status(arguments: argparse.Namespace) -> int:
    """Exit code 0 where a server runs (starting counts, stopping does not), else 1."""
    try:
        found = current()
    except LaunchError as error:
        return _complain(error)
    if found is None:
        words = "no server is running"
        if kept_launches():
            words = (
                "a container that was kept running waits to be taken over (tritalk server start) "
                "or removed (tritalk server stop)"
            )
        found = ServerStatus("", "", ServerState.STOPPED, words)
    if arguments.json:
        print(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        print(_describe(found))
    stopped = (ServerState.STOPPING, ServerState.STOPPED, ServerState.FAILED)
    return 1 if found.state in stopped else 0


def stop(arguments: argparse.Namespace) -> int:
    """Stop the server and wait until nothing of it is left."""
    try:
        stopped = stop_running()
    except LaunchError as error:
        return _complain(error)
    if not stopped:
        print("no server is running", file=sys.stderr)
        return 1
    print("stopped")
    return 0


def logs(arguments: argparse.Namespace) -> int:
    """Exit code 1 where no server has ever run."""
    path = paths.log_dir() / "server.log"
    if not path.exists():
        print("there are no logs: no server has run yet", file=sys.stderr)
        return 1
    for line in capture.tail(path, arguments.n):
        print(line)
    if arguments.follow:
        try:
            _follow(path)
        except KeyboardInterrupt:
            print()
    return 0


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of lines")
    return int(text)


def _follow(path: Path) -> None:
    log = path.open(encoding="utf-8", errors="replace")
    log.seek(0, 2)
    try:
        while True:
            if line := log.readline():
                print(line, end="", flush=True)
                continue
            time.sleep(0.2)
            # Rotation puts a new file in the place of the one being read.
            if path.exists() and not path.samefile(f"/proc/self/fd/{log.fileno()}"):
                log.close()
                log = path.open(encoding="utf-8", errors="replace")
    finally:
        log.close()


def _describe(found: ServerStatus) -> str:
    told = found.message and found.message != found.state
    lines = [f"{found.state}: {found.message}" if told else str(found.state)]
    rows = {
        "launcher": f"{found.launcher} ({found.reason})" if found.launcher else "",
        "grpc": found.endpoint.grpc,
        "http": found.endpoint.http,
        "metrics": found.endpoint.metrics,
    }
    lines += [f"  {name:9} {value}" for name, value in rows.items() if value]
    lines += [f"  {'header':9} {name}: {value}" for name, value in found.endpoint.headers.items()]
    lines += [f"  {'model':9} {name}: {state}" for name, state in sorted(found.models.items())]
    return "\n".join(lines)


def _complain(error: object) -> int:
    print(error, file=sys.stderr)
    return 1
