"""What a model's process keeps of the memory that its threads free."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# A second thread touches the same blocks again and again, as the steps of a network do.
_CODE = """
import ctypes, resource, sys, threading
from server_bundle import process
if sys.argv[1] == "keep":
    assert process.keep_freed_memory()
SIZES = (4_000_000, 6_000_000, 5_000_000)
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
def work():
    for _ in range(100):
        blocks = [(libc.malloc(size), size) for size in SIZES]
        for block, size in blocks:
            ctypes.memset(block, 1, size)
        for block, size in blocks:
            libc.free(block)
thread = threading.Thread(target=work)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
thread.start(); thread.join()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(mode: str) -> int:
    """Pages the kernel had to give."""
    return int(subprocess.check_output([sys.executable, "-c", _CODE, mode], text=True))


@pytest.mark.skipif(
    "CS_GNU_LIBC_VERSION" not in os.confstr_names, reason="the C library is not glibc"
)
def test_freed_memory_is_used_again() -> None:
    assert faults("keep") < faults("as it is") / 5
