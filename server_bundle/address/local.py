"""The address network without a server, in this process: for training reports, tests and checks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from server_bundle.address.parser import AddressParser, Ids, Logits


def local_parser(folder: Path, max_batch: int = 32) -> AddressParser:
    """A parser over ``folder/model.pt`` on the CPU. Raises ValueError when the file is missing."""
    module = torch.jit.load(str(folder / "model.pt"), map_location="cpu").eval()

    def network(input_ids: Ids, segment_ids: Ids, input_mask: Ids) -> tuple[Logits, Logits]:
        inputs = [
            torch.from_numpy(np.ascontiguousarray(a)) for a in (input_ids, segment_ids, input_mask)
        ]
        with torch.inference_mode(), torch.jit.optimized_execution(False):
            cls, ner = module(*inputs)
        return cls.numpy(), ner.numpy()

    return AddressParser(folder, network, max_batch)
