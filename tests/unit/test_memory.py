"""The estimate of what models take, and the warning before they are loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from desktop import memory, paths
from desktop.memory import MemoryShort

MIB = 2**20
CHAT = paths.resources_dir() / "models" / "chitchat-tiny"


def test_weights_are_counted_from_the_header(tmp_path: Path) -> None:
    tensors = {"a": torch.zeros(300, 20, dtype=torch.float16), "b": torch.zeros(7)}
    save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    count, size = memory.weights(tmp_path)
    assert count == 6007
    assert size == (tmp_path / "model.safetensors").stat().st_size
    assert memory.weights(tmp_path / "nowhere") == (0, 0)
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 40)
    assert memory.weights(tmp_path)[0] == 0  # loading says what is wrong with it


def test_the_need_follows_size_and_precision(tmp_path: Path) -> None:
    save_file({"a": torch.zeros(10 * MIB, dtype=torch.float16)}, tmp_path / "model.safetensors")
    wide, narrow = memory.chat_need(tmp_path), memory.chat_need(tmp_path, "int8")
    assert wide - narrow == 30 * MIB
    bare = wide
    config = {"n_layer": 2, "n_positions": 512, "n_embd": 256}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert memory.chat_need(tmp_path) - bare == 64 * 2 * 2 * 512 * 256 * 4


def test_the_estimate_covers_what_loading_really_takes() -> None:
    """The peak of a process that does what the engine does, against the estimate without cache."""
    script = (
        "import re, torch\n"
        "from pathlib import Path\n"
        "from server_bundle.chitchat.checkpoint import load_network\n"
        f"load_network(Path({str(CHAT)!r}))\n"
        # getrusage would count the process that this one was forked from.
        "status = Path('/proc/self/status').read_text()\n"
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) * 1024)"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(root)},
    )
    need = memory.chat_need(CHAT) - memory._cache(CHAT)
    # Shared libraries, which several processes have in common, count here but not there.
    assert need < int(done.stdout) * 1.5
    assert need > int(done.stdout) * 0.4


def test_the_smaller_of_machine_and_container_counts(tmp_path: Path) -> None:
    assert memory.available(tmp_path) is None
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable: 4194304 kB\n")
    assert memory.available(tmp_path) == 4 * 2**30
    group = tmp_path / "sys/fs/cgroup"
    group.mkdir(parents=True)
    (group / "memory.max").write_text("max\n")
    (group / "memory.current").write_text(f"{900 * MIB}\n")
    (group / "memory.stat").write_text(f"anon 1\ninactive_file {100 * MIB}\n")
    assert memory.available(tmp_path) == 4 * 2**30
    (group / "memory.max").write_text(f"{1000 * MIB}\n")
    assert memory.available(tmp_path) == 200 * MIB


def test_a_shortage_is_one_sentence() -> None:
    memory.check(5, 5)
    with pytest.raises(MemoryShort) as raised:
        memory.check(3 * 2**30, 700 * MIB)
    assert str(raised.value) == (
        "this needs about 3.0 GB of memory, and 700 MB are free; close other programs, or try "
        "again to do it all the same"
    )
    assert memory.launch_need([CHAT]) > memory.launch_need()
