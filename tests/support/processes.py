"""What processes hold."""

from __future__ import annotations

from pathlib import Path


def memory_of(pid: int) -> float:
    """MiB of a process in memory, shared pages counted in parts (PSS); 0 for one that has gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)
