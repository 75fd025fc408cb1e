"""What the chat engine may compute in, by device. Imports nothing: torch takes seconds."""

from __future__ import annotations

PRECISIONS = ("auto", "float32", "bfloat16", "float16", "int8")
#: float16 is for GPUs, int8 for CPUs.
FOR_DEVICE = {
    "cpu": tuple(name for name in PRECISIONS if name != "float16"),
    "gpu": tuple(name for name in PRECISIONS if name != "int8"),
}
