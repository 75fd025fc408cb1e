"""Checkpoint → TorchScript that any device, batch size and length can run, checked before it ships.

``python -m server_bundle.address.export CHECKPOINT OUT`` reads a checkpoint (see
:mod:`server_bundle.address.checkpoint`) and writes OUT/model.pt with the files beside it. With
``--json`` the last line of the output is a JSON object: ``areas`` and ``types`` (how many),
``difference`` from the eager network, ``notes``. Exit code 2 where the checkpoint cannot be used.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import sys
import warnings
from pathlib import Path

import torch
from torch import Tensor

from server_bundle.address import checkpoint
from server_bundle.address.checkpoint import Checkpoint, CheckpointError
from server_bundle.address.folder import (
    AREAS,
    CALIBRATION,
    CONFIG,
    TYPES,
    VOCABULARY,
    AddressModel,
)
from server_bundle.address.network import AddressConfig, BertFourLevelArea

BATCHES = (1, 3, 8)
LENGTHS = (8, 33, 64)
TOLERANCE = 1e-4


class ExportError(Exception):
    """The traced network is not what the eager one is; the sentence says where."""


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
    """The largest difference from the eager network over all batch sizes and lengths, as a share
    of the number (of 1 where that is smaller).

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
                share = (mine - theirs).abs() / mine.abs().clamp(min=1.0)
                worst = max(worst, float(share.max()))
    if worst > TOLERANCE:
        raise ExportError(f"The traced network differs from the eager one by {worst:.2g}.")
    return worst


def export(
    source: Path, out: Path, *, types: Path | None = None, rope: bool | None = None
) -> tuple[Checkpoint, float]:
    """Writes ``out/model.pt`` and what the parser needs beside it; returns what was read and the
    largest difference seen. Raises CheckpointError, ExportError or OSError."""
    found = checkpoint.read(source, types=types, rope=rope)
    traced = trace(found.network)
    out.mkdir(parents=True, exist_ok=True)
    torch.jit.save(traced, str(out / "model.pt"))
    worst = verify(found.network, torch.jit.load(str(out / "model.pt")))
    found.config.save(out / CONFIG, **found.tokenizer)
    (out / TYPES).write_text("\n".join(found.types) + "\n", encoding="utf-8")
    for name in (VOCABULARY, CALIBRATION):
        if (source / name).exists() and source.resolve() != out.resolve():
            shutil.copyfile(source / name, out / name)
    with (out / AREAS).open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("label", "code", "name"))
        writer.writerows((i, key, name) for i, (key, name) in enumerate(found.areas))
    AddressModel.load(out)
    return found, worst


def main() -> None:
    parser = argparse.ArgumentParser(
        description="a checkpoint of the address network as TorchScript"
    )
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--types", type=Path, help="the file of its entity types")
    parser.add_argument("--rope", choices=("on", "off"), help="where config.json does not say")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rope = None if arguments.rope is None else arguments.rope == "on"
    warnings.filterwarnings("ignore", message=".*torch.jit.*", category=DeprecationWarning)
    try:
        found, worst = export(arguments.checkpoint, arguments.out, types=arguments.types, rope=rope)
    except (CheckpointError, ExportError, ValueError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except (MemoryError, OSError) as error:
        print(f"{arguments.out} cannot be written: {error}.", file=sys.stderr)
        sys.exit(1)
    if arguments.json:
        result = {
            "areas": len(found.areas),
            "types": len(found.types),
            "difference": worst,
            "notes": found.notes,
        }
        print(json.dumps(result, ensure_ascii=False))
        return
    for note in found.notes:
        print(note)
    print(f"{arguments.out / 'model.pt'} written; largest difference {worst:.2g}")


if __name__ == "__main__":
    main()
