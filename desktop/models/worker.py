"""Runs a step of an import in a process of its own and follows what it says.

Such a process prints a JSON object a line: ``{"message": …, "done": …, "total": …}`` while it goes
on, then ``{"result": {…}}`` or ``{"error": "one sentence"}``. It is killed when the import is
cancelled, and has the kernel kill it when this process dies.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import desktop
from desktop import interpreter
from desktop.models import ModelError, Progress, Report

_LAST_WORDS = 2000


class Cancelled(ModelError):
    """The person cancelled it."""

    def __init__(self) -> None:
        super().__init__("the import was cancelled")


class Cancel:
    """Ends the step under way, and every later one. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self.cancelled = False

    def __call__(self) -> None:
        with self._lock:
            self.cancelled = True
            if self._process is not None:
                self._process.kill()

    def check(self) -> None:
        """Raises :class:`Cancelled`."""
        if self.cancelled:
            raise Cancelled

    def attend(self, process: subprocess.Popen[str] | None) -> None:
        with self._lock:
            self._process = process
            if self.cancelled and process is not None:
                process.kill()


def run(
    module: str, arguments: list[str], report: Report, cancel: Cancel, **environment: str
) -> dict[str, Any]:
    """The result of ``python -m module arguments``. Blocks.

    Raises:
        ModelError: what the process says went wrong, or that it died; :class:`Cancelled`.
    """
    cancel.check()
    if interpreter.lite() and module.startswith("server_bundle."):
        raise ModelError(
            "this edition of Tritalk has no PyTorch to convert models with; "
            "install the full edition"
        )
    env = {**os.environ, **environment}
    env["PYTHONPATH"] = interpreter.search_path(Path(desktop.__file__).resolve().parent.parent)
    env["PYTHONWARNINGS"] = "ignore"
    process = subprocess.Popen(
        [interpreter.running(module), "-m", module, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=env,
    )
    said: list[str] = []
    reader = threading.Thread(target=_collect, args=(process, said), daemon=True)
    reader.start()
    cancel.attend(process)
    answer: dict[str, Any] = {}
    try:
        assert process.stdout is not None
        for line in process.stdout:
            message = json.loads(line)
            if "message" in message:
                report(Progress(**message))
            else:
                answer = message
        process.wait()
    finally:
        cancel.attend(None)
        if process.poll() is None:
            process.kill()
            process.wait()
        reader.join(5)
        if process.stdout is not None:
            process.stdout.close()
    cancel.check()
    if "error" in answer:
        raise ModelError(str(answer["error"]))
    if "result" not in answer:
        raise ModelError(_why(process.returncode, "".join(said)))
    found: dict[str, Any] = answer["result"]
    return found


def _why(code: int, said: str) -> str:
    if code == -signal.SIGKILL:
        return "the import was killed; the model may not fit into this machine's memory"
    lines = [line for line in said.splitlines() if line.strip()]
    return f"the import broke off: {lines[-1][:200] if lines else f'exit status {code}'}"


def _collect(process: subprocess.Popen[str], said: list[str]) -> None:
    """Its last words; what libraries print is kept out of sight."""
    assert process.stderr is not None
    with process.stderr as stream:
        for line in stream:
            said[:] = ["".join([*said, line])[-_LAST_WORDS:]]
