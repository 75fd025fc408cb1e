"""Checkpoint → TorchScript that any device, batch size and length can run, checked before it ships.

``python -m server_bundle.address.export CHECKPOINT OUT`` reads config.json and model.safetensors
from CHECKPOINT and writes OUT/model.pt with the files beside it.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from server_bundle.address.network import AddressConfig, BertFourLevelArea

BATCHES = (1, 3, 8)
LENGTHS = (8, 33, 64)
TOLERANCE = 1e-4
COMPANIONS = ("config.json", "vocab.txt", "label_cls.csv", "entity_types.txt")


class ExportError(Exception):
    """The traced network is not what the eager one is; the sentence says where."""


def load_network(folder: Path) -> BertFourLevelArea:
    """The eager network in evaluation mode. Raises OSError, or RuntimeError when weights and
    config.json do not fit."""
    model = BertFourLevelArea(AddressConfig.load(folder / "config.json"))
    model.load_state_dict(load_file(folder / "model.safetensors"))
    return model.eval()


def example(config: AddressConfig, batch: int, length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Random ids; row k of the mask ends k tokens early, so that padding is part of the check."""
    generator = torch.Generator().manual_seed(batch * 1000 + length)
    ids = torch.randint(config.vocab_size, (batch, length), generator=generator)
    mask = torch.ones_like(ids)
    for row in range(1, batch):
        mask[row, length - min(row, length - 2) :] = 0
    return ids, torch.zeros_like(ids), mask


def trace(model: BertFourLevelArea) -> torch.jit.ScriptModule:
    """Traces on the CPU and verifies; raises ExportError."""
    with torch.inference_mode():
        traced: torch.jit.ScriptModule = torch.jit.trace(
            model, example(model.config, 2, 16), strict=True, check_trace=False
        )
    verify(model, traced)
    return traced


def device_constants(module: torch.jit.ScriptModule) -> list[str]:
    """Lines of the inlined graph that name a device; such a module runs only there."""
    lines = str(module.inlined_graph).splitlines()
    return [line.strip() for line in lines if "Device = prim::Constant" in line]


@torch.inference_mode()
def verify(model: BertFourLevelArea, traced: torch.jit.ScriptModule) -> float:
    """The largest difference from the eager network over all batch sizes and lengths.

    Raises ExportError where it exceeds 1e-4 or a device is baked in.
    """
    if baked := device_constants(traced):
        raise ExportError(f"The traced network is bound to a device: {baked[0]}")
    worst = 0.0
    for batch in BATCHES:
        for length in (n for n in LENGTHS if n <= model.config.max_position_embeddings):
            inputs = example(model.config, batch, length)
            for mine, theirs in zip(model(*inputs), traced(*inputs), strict=True):
                if mine.shape != theirs.shape:
                    raise ExportError(
                        f"At batch {batch} and length {length} the traced network answers "
                        f"{tuple(theirs.shape)} instead of {tuple(mine.shape)}."
                    )
                worst = max(worst, float((mine - theirs).abs().max()))
    if worst > TOLERANCE:
        raise ExportError(f"The traced network differs from the eager one by {worst:.2g}.")
    return worst


def export(checkpoint: Path, out: Path) -> float:
    """Writes ``out/model.pt`` and its companions; returns the largest difference seen."""
    model = load_network(checkpoint)
    traced = trace(model)
    out.mkdir(parents=True, exist_ok=True)
    torch.jit.save(traced, str(out / "model.pt"))
    worst = verify(model, torch.jit.load(str(out / "model.pt")))
    for name in COMPANIONS:
        if (checkpoint / name).exists() and checkpoint.resolve() != out.resolve():
            shutil.copyfile(checkpoint / name, out / name)
    return worst


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    difference = export(arguments.checkpoint, arguments.out)
    print(f"{arguments.out / 'model.pt'} written; largest difference {difference:.2g}")
