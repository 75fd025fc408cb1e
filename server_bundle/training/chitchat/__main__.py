"""``python -m server_bundle.training.chitchat OUT``: dialogues → a chat model that can be served.

Trains on, from the model that comes with the program or any imported one (``--from``), and writes
OUT/model, a folder to import or serve, OUT/report.json with figures and sample replies, and
OUT/trainer.pt, from which the same command goes on after an interruption.

To make the model answer in your own way, write dialogues into a text file, ``U:`` for what a user
says and ``B:`` for the reply, with a blank line between two dialogues, and run

    python -m server_bundle.training.chitchat OUT --exchanges mine.txt --minutes 10
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from server_bundle import process
from server_bundle.chitchat.folder import CheckpointError
from server_bundle.training.chitchat.dialogues import EXCHANGES, LONG, DialogueError
from server_bundle.training.chitchat.evaluate import distinct
from server_bundle.training.chitchat.exclude import Exclusion, read_messages
from server_bundle.training.chitchat.export import check_folder
from server_bundle.training.chitchat.parallel import WorkerLost
from server_bundle.training.chitchat.replies import replies
from server_bundle.training.chitchat.train import Settings, Trainer, read_corpus, write_report

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[2]
STARTER = _ROOT / "resources" / "models" / "chitchat-tiny"
EVERYDAY = _HERE / "data" / "everyday"
# What a model is judged by must not be in its training data.
JUDGED = (_HERE / "data" / "sample_prompts.txt", _ROOT / "tests" / "data" / "everyday_messages.txt")


def has_bf16() -> bool:
    """Whether this CPU multiplies bfloat16 matrices natively."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="python -m server_bundle.training.chitchat",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = result.add_argument
    add("out", type=Path, metavar="OUT", help="folder for the model, the report and checkpoints")
    add(
        "--from",
        dest="start",
        default=str(STARTER),
        metavar="FOLDER",
        help="model folder to start from, or 'scratch' (default: the model of the program)",
    )
    add(
        "--exchanges",
        type=Path,
        action="append",
        help="short dialogues: U:/B: text, .jsonl, or a folder of them (default: the everyday "
        "exchanges of the program)",
    )
    add(
        "--dialogues",
        type=Path,
        action="append",
        help="long dialogues, .jsonl or .jsonl.gz; their turns are shortened",
    )
    add("--exclude", type=Path, action="append", help="a message a line, kept out of the training")
    add("--minutes", type=float, help="how long to train (default: 60)")
    add("--steps", type=int, help="how many steps to train instead")
    add("--tokens", type=int, default=4096, help="tokens of a step")
    add("--share-exchanges", type=float, default=0.35, help="of all reply tokens")
    add("--share-small-talk", type=float, default=0.06, help="of all reply tokens")
    add("--held-out", type=float, default=0.04, help="share of the exchanges that are held out")
    add("--join", type=float, default=0.1, help="share of exchanges that follow another one")
    add("--blank", type=float, default=0.1, help="share of characters hidden from the network")
    add("--dropout", type=float, default=0.2)
    add("--muon-rate", type=float, default=0.01, help="learning rate of the matrices")
    add("--adam-rate", type=float, default=0.0015, help="learning rate of everything else")
    add("--warmup", type=int, default=50, help="steps")
    add("--hold", type=float, default=0.4, help="share of the training with constant rates")
    add("--seed", type=int, default=1)
    add("--processes", type=int, help="that compute together (default: one a core, at most 2)")
    add("--threads", type=int, default=1, help="of a single process")
    add("--checkpoint-minutes", type=float, default=4.0)
    add("--last", action="store_true", help="export the last weights, not the least perplexed")
    add("--layers", type=int, default=6, help="from scratch only")
    add("--width", type=int, default=256, help="from scratch only")
    add("--heads", type=int, default=4, help="from scratch only")
    return result


def _settings(args: argparse.Namespace) -> Settings:
    return Settings(
        out=args.out,
        pattern=STARTER,
        start=None if args.start == "scratch" else Path(args.start),
        exchanges=tuple(args.exchanges if args.exchanges is not None else [EVERYDAY]),
        dialogues=tuple(args.dialogues or ()),
        steps=args.steps,
        minutes=None if args.steps is not None else args.minutes or 60.0,
        tokens=args.tokens,
        share_exchanges=args.share_exchanges,
        share_small_talk=args.share_small_talk,
        held_out=args.held_out,
        join=args.join,
        blank=args.blank,
        dropout=args.dropout,
        muon_rate=args.muon_rate,
        adam_rate=args.adam_rate,
        warmup=args.warmup,
        hold=args.hold,
        seed=args.seed,
        processes=args.processes or min(2, process.cores()),
        threads=args.threads,
        bf16=has_bf16(),
        checkpoint_minutes=args.checkpoint_minutes,
        last=args.last,
        layers=args.layers,
        width=args.width,
        heads=args.heads,
    )


def finish(trainer: Trainer) -> dict[str, Any]:
    """Export, check against transformers, draw sample replies; the report's contents."""
    folder = trainer.out / "model"
    trainer.export(folder)
    report = trainer.describe()
    report["difference from transformers' logits, relative"] = check_folder(folder)
    held_out = trainer.corpus.held_out
    prompts = [d.turns[0] for kind in (EXCHANGES, LONG) for d in held_out[kind][:100]]
    prompts = [prompt for prompt in prompts if len(prompt) <= 100]
    texts = replies(folder, [[prompt] for prompt in prompts])
    report["replies to held-out messages"] = {
        "count": len(texts),
        "different": len(set(texts)),
        "characters": round(sum(map(len, texts)) / max(1, len(texts)), 2),
        "distinct-1": round(distinct(texts, 1), 4),
        "distinct-2": round(distinct(texts, 2), 4),
    }
    report["samples"] = [
        {"message": prompt, "reply": text}
        for prompt, text in zip(prompts[:40], texts, strict=False)
    ]
    return report


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    settings = _settings(args)
    try:
        messages: list[str] = []
        for path in [*(p for p in JUDGED if p.exists()), *(args.exclude or ())]:
            messages += read_messages(path)
        exclusion = Exclusion(messages)
        corpus = read_corpus(settings, exclusion)
        print(f"{corpus.counts}", flush=True)
        trainer = Trainer(settings, corpus, exclusion)
        trainer.run()
        report = finish(trainer)
    except (CheckpointError, DialogueError, WorkerLost, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    write_report(settings.out / "report.json", report)
    print(f"model: {settings.out / 'model'}\nreport: {settings.out / 'report.json'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
