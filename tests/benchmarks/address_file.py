"""A file of addresses: rows a second, and how many times the rate of the plain way: one request an
address to the network, padded to 64 tokens, decoded by the caller, the next one after it.

``python -m tests.benchmarks.address_file [--rows 10000] [--single 300] [--jionlp [PYTHON]]``. Both
are measured in one run on one server; the plain way in two halves, before and after the file. With
--jionlp its ``parse_location`` is asked as many of the addresses, down to towns, in that run too.
The addresses come from the corpus generator. The memory is that of the process that reads and
writes the files: its peak during the first tenth of the file and during all of it.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import tempfile
import time
from pathlib import Path
from random import Random

import numpy as np
import tritonclient.grpc as grpcclient

from desktop.addresses.run import FileRun, Progress
from desktop.launchers import acquire
from desktop.triton.client import TritonClient
from desktop.triton.connection import connect
from desktop.triton.types import Endpoint
from server_bundle.address.divisions import default_table
from server_bundle.address.folder import AddressModel
from server_bundle.address.global_pointer import decode
from server_bundle.training.address import peers
from server_bundle.training.address.grammar import Grammar
from server_bundle.training.address.score import MODEL

LENGTH = 64


def texts(number: int) -> list[str]:
    grammar = Grammar(default_table(), Random(20260101))
    found: list[str] = []
    while len(found) < number:
        text = grammar.draw().text.strip()
        if text and len(text) <= LENGTH - 2:
            found.append(text)
    return found


def one_by_one(endpoint: Endpoint, addresses: list[str]) -> float:
    """Rows a second."""
    model = AddressModel.load(MODEL)
    client = connect(endpoint)
    began = time.perf_counter()
    for text in addresses:
        encoding = model.tokenizer.encode(text)
        ids = np.full((1, LENGTH), model.tokenizer.pad_id, np.int64)
        mask = np.zeros_like(ids)
        ids[0, : len(encoding.ids)] = encoding.ids
        mask[0, : len(encoding.ids)] = 1
        inputs = []
        for name, array in (
            ("input_ids", ids),
            ("segment_ids", np.zeros_like(ids)),
            ("input_mask", mask),
        ):
            inputs.append(grpcclient.InferInput(name, [1, LENGTH], "INT64"))
            inputs[-1].set_data_from_numpy(array)
        answer = client.infer("multitask_model", inputs, headers=endpoint.headers or None)
        decode(answer.as_numpy("ner_logits")[0], encoding.offsets, model.types)
    seconds = time.perf_counter() - began
    client.close()
    return len(addresses) / seconds


def peak() -> float:
    """MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Memory:
    """``early``: the peak, in MiB, after a tenth of the rows."""

    early = 0.0

    def __call__(self, progress: Progress) -> None:
        if not self.early and progress.done * 10 >= progress.total:
            self.early = peak()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--single", type=int, default=300)
    parser.add_argument("--jionlp", nargs="?", const="", metavar="PYTHON")
    arguments = parser.parse_args()
    addresses = texts(max(arguments.rows, arguments.single))
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("TRITALK_HOME", folder)
        source, output = Path(folder) / "in.csv", Path(folder) / "out.csv"
        with source.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["id", "地址"])
            writer.writerows([i, text] for i, text in enumerate(addresses[: arguments.rows]))
        lease = acquire("embedded")
        try:
            endpoint = lease.wait_ready(300).endpoint
            with TritonClient(endpoint) as client:
                client.parse(addresses[:200])  # warm
                single = addresses[: arguments.single]
                half = len(single) // 2
                one_by_one(endpoint, single[:50])
                before = one_by_one(endpoint, single[:half])
                memory = Memory()
                began = time.perf_counter()
                progress = FileRun(source, output)(client, memory)
                seconds = time.perf_counter() - began
                after = one_by_one(endpoint, single[half:])
                if arguments.jionlp is not None:
                    python = arguments.jionlp or peers.environment()
                    jionlp = len(single) / peers.ask(python, single, "jionlp")["jionlp"]["seconds"]
        finally:
            lease.close()
    rate = progress.total / seconds
    plain = 2 / (1 / before + 1 / after)
    print(f"file of {progress.total:,} rows: {rate:,.0f} rows/s")
    print(f"peak memory: {memory.early:,.0f} MiB after a tenth, {peak():,.0f} MiB at the end")
    print(f"one request an address, padded to 64: {plain:,.0f} rows/s ({before:.0f}, {after:.0f})")
    print(f"ratio: {rate / plain:.1f}")
    if arguments.jionlp is not None:
        print(f"jionlp's parse_location: {jionlp:,.0f} rows/s, ratio {rate / jionlp:.1f}")


if __name__ == "__main__":
    main()
