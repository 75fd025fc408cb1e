"""How much memory is free, on the machine and within a container's limit."""

from __future__ import annotations

from pathlib import Path


def available(root: Path = Path("/")) -> int | None:
    """Bytes that can be had without swapping, within a container's limit too; None where this
    system does not tell. ``root``: below which ``proc`` and ``sys`` are."""
    found = []
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                found.append(int(line.split()[1]) * 1024)
    except (OSError, ValueError, IndexError):
        pass
    for folder, limit, used in (
        (root / "sys/fs/cgroup", "memory.max", "memory.current"),
        (root / "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        try:
            most = int((folder / limit).read_text())
            found.append(max(0, most - int((folder / used).read_text()) + _reclaimable(folder)))
        except (OSError, ValueError):  # no such group, or "max": no limit
            continue
    return min(found) if found else None


def _reclaimable(group: Path) -> int:
    """Pages of files, which the kernel gives back before anything else."""
    for line in (group / "memory.stat").read_text().splitlines():
        name, _, value = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file"):
            return int(value)
    return 0
