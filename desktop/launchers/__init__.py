"""How a Triton server comes to be. ``acquire`` leases one; ``current`` looks at the running one."""

from __future__ import annotations

from pathlib import Path

from desktop.launchers import embedded, supervised
from desktop.launchers.base import LaunchError, Lease, ServerStatus
from desktop.launchers.choice import reason_for_embedded

LAUNCHERS = ("auto", "embedded")


def acquire(
    choice: str = "auto", *, listen: str = "unix", models_source: Path | None = None
) -> Lease:
    """Lease the running server of this user, or start one; returns at once, in STARTING.

    Raises :class:`LaunchError`, one sentence with what to do, where no server can be had.
    """
    if choice not in LAUNCHERS:
        raise LaunchError(
            f"There is no launcher {choice!r}; choose one of: {', '.join(LAUNCHERS)}."
        )
    reason = reason_for_embedded() if choice == "auto" else "chosen by the user"
    launcher = embedded.EmbeddedLauncher(listen=listen, reason=reason, models_source=models_source)
    return launcher.acquire()


def current() -> ServerStatus | None:
    """The running server of this user, without starting or leasing one."""
    return supervised.current_status()
