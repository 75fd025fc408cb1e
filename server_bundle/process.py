"""How the process of a model treats this machine's memory and cores.

Two defaults of the C libraries cost the thread that makes a reply a third of its speed:

- glibc gives freed memory of other threads than the first back to the kernel at once, so that every
  step of a network faults the same pages in anew (malloc_trim and ``M_TRIM_THRESHOLD`` in
  mallopt(3)).
- GNU OpenMP makes a team of threads for every thread that computes. As soon as there are more of
  them in a process than cores, all wait asleep instead of spinning, which at hundreds of short
  operations a step is most of the time (``GOMP_SPINCOUNT`` in the manual of libgomp). So only one
  thread of a process may compute in parallel.
"""

from __future__ import annotations

import ctypes
import os
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h
_KEEP = 128 * 2**20
_LARGEST = 32 * 2**20  # what mallopt accepts at most on 64-bit systems


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def keep_freed_memory() -> bool:
    """Have malloc keep up to 128 MiB of freed memory for reuse; whether this C library can.

    Call it before other threads have allocated much.
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt is None:
        return False
    return bool(mallopt(_M_TRIM_THRESHOLD, _KEEP) and mallopt(_M_MMAP_THRESHOLD, _LARGEST))
