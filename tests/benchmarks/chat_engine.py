"""The chat engine beside the alternatives, all in one run on one machine: only ratios mean much.

(a) the original application's BLS loop, (b) transformers' ``generate`` with cache in process, (c) a
bare loop over our network without Triton, (d) ours, streamed through Triton over gRPC; on the
shipped model and on a random one of 95.5 M parameters in FP32, and (b) to (d) in BF16 and INT8.

``python -m tests.benchmarks.chat_engine [--models tiny,large] [--levels 1,2,4,8,16] [--rounds 3]``;
the table is also written as Markdown and JSON into ``tests/artifacts/benchmarks``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from desktop.launchers import acquire
from desktop.launchers.stubs import find_stubs
from desktop.triton.client import TritonClient
from desktop.triton.types import Endpoint
from server_bundle.chitchat.checkpoint import load_network
from server_bundle.chitchat.precision import fast_bfloat16
from server_bundle.chitchat.prompt import PromptLayout
from server_bundle.chitchat.settings import EngineSettings
from tests.benchmarks.chat_ways import models, ways
from tests.support.chat import MODEL
from tests.support.processes import memory_of

# How often (c) and (d) take turns for their warm first tokens, and how many count of each turn.
_WARM_BLOCKS, _WARM_RUNS = 3, 4
OUTPUT = Path(__file__).resolve().parents[1] / "artifacts" / "benchmarks"
SEED, GENERATE, BARE, OURS = (
    "(a) BLS loop without cache",
    "(b) transformers generate",
    "(c) bare loop",
    "(d) Triton, streamed",
)


@dataclass
class Line:
    """Medians over the rounds. Times in milliseconds, memory in MiB (proportional set size).

    ``first_token`` is that of a way whose turn it just became, with the caches full of another's;
    ``first_token_warm`` that of the same way again and again, measured for one chat of (c) and (d).
    """

    model: str
    precision: str
    way: str
    chats: int
    tokens_per_second: float
    first_token: float
    gap_p50: float
    gap_p95: float
    slowest_to_fastest: float
    memory: float
    first_token_warm: float | None = None


@contextmanager
def served(folder: Path, kind: str, threads: int) -> Iterator[tuple[TritonClient, Endpoint, int]]:
    """A server of one chat model; its client, endpoint and process id."""
    with tempfile.TemporaryDirectory() as scratch:
        source = models.repository(
            Path(scratch) / "models",
            folder,
            threads=threads,
            precision="" if kind == "float32" else kind,
        )
        lease = acquire("embedded", models_source=source)
        try:
            endpoint = lease.wait_ready(300).endpoint
            with TritonClient(endpoint) as client:
                yield client, endpoint, lease.status().pid
        finally:
            lease.close()


def measure(
    name: str, folder: Path, kind: str, levels: list[int], rounds: int, seed_chats: int
) -> list[Line]:
    """All ways for one model in one precision, interleaved.

    Args:
        seed_chats: the most concurrent chats of (a), whose time grows with every one of them.
    """
    network = load_network(folder)
    threads = EngineSettings.choose(network.config, {}).threads
    torch.set_num_threads(threads)
    layout = PromptLayout.from_folder(folder)
    prompt = layout.encode([], ways.TEXT, ways.TOKENS)
    del network
    own: dict[str, float] = {}

    def loaded(way: str, make: ways.Way) -> ways.Way:
        make(1)  # warm
        own[way] = memory_of(os.getpid())
        return make

    with served(folder, kind, threads) as (client, endpoint, pid):
        found: dict[str, ways.Way] = {BARE: ways.bare_loop(folder, kind, layout, prompt)}
        if kind != "int8":
            dtype = getattr(torch, kind)
            found[GENERATE] = ways.transformers_generate(folder, dtype, prompt)
        found[OURS] = ways.through_triton(client)
        if kind == "float32":
            found[SEED] = ways.seed_loop(endpoint, prompt)
        for way, run in found.items():
            loaded(way, run)
        samples: dict[tuple[str, int], list[ways.Run]] = {}
        shuffled = random.Random(0)
        for _ in range(rounds):
            for chats in levels:
                # None always follows the same other one, which leaves the caches full of its own.
                for way in shuffled.sample(list(found), len(found)):
                    if way != SEED or chats <= seed_chats:
                        samples.setdefault((way, chats), []).append(found[way](chats))
        warm: dict[str, list[float]] = {}
        for _ in range(_WARM_BLOCKS):
            for way in (BARE, OURS):
                runs = [found[way](1) for _ in range(1 + _WARM_RUNS)]
                warm.setdefault(way, []).extend(run.times[0][0] for run in runs[1:])
        stubs = {model: memory_of(stub) for stub, model in find_stubs(pid).items()}
        ours = memory_of(pid) + sum(v for k, v in stubs.items() if not k.startswith("seed"))
        seed = memory_of(pid) + sum(v for k, v in stubs.items() if k.startswith("seed"))
    memory = {OURS: ours, SEED: seed, BARE: own[BARE], GENERATE: own.get(GENERATE, 0.0)}
    lines = [
        line(name, kind, way, chats, runs, memory[way])
        for (way, chats), runs in sorted(samples.items())
    ]
    for each in lines:
        if each.way in warm and each.chats == 1:
            each.first_token_warm = 1000 * statistics.median(warm[each.way])
    return lines


def line(model: str, kind: str, way: str, chats: int, runs: list[ways.Run], memory: float) -> Line:
    def median(values: list[float]) -> float:
        return statistics.median(values) if values else 0.0

    gaps = [
        1000 * (b - a) for run in runs for times in run.times for a, b in itertools.pairwise(times)
    ]
    cuts = statistics.quantiles(gaps, n=20) if gaps else [0.0] * 19
    return Line(
        model,
        kind,
        way,
        chats,
        tokens_per_second=median([run.rate for run in runs]),
        first_token=1000 * median([t[0] for run in runs for t in run.times]),
        gap_p50=cuts[9],
        gap_p95=cuts[18],
        slowest_to_fastest=median(
            [max(t[-1] for t in run.times) / min(t[-1] for t in run.times) for run in runs]
        ),
        memory=memory,
    )


def ratios(lines: list[Line]) -> list[str]:
    """What the figures say, one sentence a ratio."""
    rate = {(x.model, x.precision, x.way, x.chats): x.tokens_per_second for x in lines}
    alone = {(x.model, x.precision, x.way): x for x in lines if x.chats == 1}
    said = []
    for model, kind in dict.fromkeys((x.model, x.precision) for x in lines):

        def of(
            way: str, other: str, chats: int, model: str = model, kind: str = kind
        ) -> str | None:
            mine, theirs = (
                rate.get((model, kind, way, chats)),
                rate.get((model, kind, other, chats)),
            )
            if mine is None or theirs is None:
                return None
            return f"{model}, {kind}, {chats} chat(s): {way} / {other} = {mine / theirs:.2f}"

        for other in (BARE, GENERATE, SEED):
            said += [s for chats in (1, 8) if (s := of(OURS, other, chats))]
        seed, mine = (rate.get((model, *way, 1)) for way in (("float32", SEED), (kind, OURS)))
        if kind != "float32" and seed and mine:  # (a) knows no other precision
            said.append(f"{model}, {kind}, 1 chat: {OURS} / {SEED} in float32 = {mine / seed:.2f}")
        one, eight = (rate.get((model, kind, OURS, n)) for n in (1, 8))
        if one and eight:
            said.append(f"{model}, {kind}: 8 chats / 1 chat = {eight / one:.2f} (total tokens/s)")
        ours, bare = (alone.get((model, kind, way)) for way in (OURS, BARE))
        if ours and bare and ours.first_token_warm and bare.first_token_warm:
            warm = ours.first_token_warm - bare.first_token_warm
            cold = ours.first_token - bare.first_token
            said.append(
                f"{model}, {kind}: first token {warm:.1f} ms after the bare, warm; {cold:.1f} with "
                "the caches full of another way's weights"
            )
    return said


def markdown(lines: list[Line]) -> str:
    rows = [
        "| model | precision | way | chats | tokens/s | first token, ms | the same, warm "
        "| between tokens p50, ms | p95, ms | slowest / fastest | MiB |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    rows += [
        f"| {x.model} | {x.precision} | {x.way} | {x.chats} | {x.tokens_per_second:.0f} "
        f"| {x.first_token:.0f} | {'' if (w := x.first_token_warm) is None else round(w)} "
        f"| {x.gap_p50:.1f} | {x.gap_p95:.1f} "
        f"| {x.slowest_to_fastest:.2f} | {x.memory:.0f} |"
        for x in lines
    ]
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="tiny,large")
    parser.add_argument("--levels", default="1,2,4,8,16")
    parser.add_argument("--precisions", default="float32,bfloat16,int8")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed-chats", type=int, default=2, help="the most chats of (a) at once")
    arguments = parser.parse_args()
    levels = [int(level) for level in arguments.levels.split(",")]
    lines: list[Line] = []
    with tempfile.TemporaryDirectory() as scratch:
        folders = {"tiny": MODEL}
        if "large" in arguments.models.split(","):
            folders["large"] = models.random_model(Path(scratch) / "large")
        for name in arguments.models.split(","):
            for kind in arguments.precisions.split(","):
                if (name == "tiny" and kind != "float32") or (
                    kind == "bfloat16" and not fast_bfloat16()
                ):
                    continue  # small models gain nothing; without instructions BF16 is emulated
                lines += measure(
                    name, folders[name], kind, levels, arguments.rounds, arguments.seed_chats
                )
                print(*markdown(lines).splitlines()[2:], sep="\n", flush=True)
    table, said = markdown(lines), ratios(lines)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    (OUTPUT / "chat_engine.md").write_text(table + "\n\n" + "\n".join(said) + "\n")
    data = {"lines": [asdict(each) for each in lines], "ratios": said}
    (OUTPUT / "chat_engine.json").write_text(json.dumps(data, indent=2) + "\n")
    print(table, *said, sep="\n")


if __name__ == "__main__":
    main()
