"""Trains the address network on generated addresses.

``python -m server_bundle.training.address.train --out DIR`` writes checkpoints, resumes from the
last one, and ends with DIR/{model.safetensors, config.json, vocab.txt, label_cls.csv,
entity_types.txt, report.txt}, which ``python -m server_bundle.address.export`` turns into
TorchScript.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from pathlib import Path
from random import Random

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional

from server_bundle.address.divisions import DivisionTable, default_table
from server_bundle.address.entities import ENTITY_TYPES
from server_bundle.address.features import CharacterTokenizer
from server_bundle.address.network import AddressConfig, BertFourLevelArea
from server_bundle.training.address.dataset import IGNORE, Batch, batches, vocabulary
from server_bundle.training.address.evaluate import evaluate, read_labelled
from server_bundle.training.address.grammar import Grammar
from server_bundle.training.address.writer import Address

AREA_WEIGHT = 0.25


def span_loss(scores: Tensor, gold: Tensor) -> Tensor:
    """Multilabel categorical cross-entropy (Su et al., arXiv 2208.02955), mean over [B, types].

    Pushes every true span above 0 and every other span below it.
    """
    scores, gold = scores.flatten(0, 1).flatten(1), gold.flatten(0, 1).flatten(1).bool()
    negative = scores.masked_fill(gold, -1e12)
    zero = torch.zeros_like(scores[:, :1])
    losses = torch.cat([negative, zero], -1).logsumexp(-1)
    # True spans are few: their sum of exp(-score) is gathered instead of taken over every cell.
    rows, cells = gold.nonzero(as_tuple=True)
    true = (-scores[rows, cells]).clamp(max=60.0).exp()
    positive = torch.zeros_like(losses).index_add(0, rows, true)
    return (losses + positive.log1p()).mean()


def held_out(table: DivisionTable, n: int) -> list[Address]:
    """Generated addresses from a seed that training never uses."""
    grammar = Grammar(table, Random("held out"))
    return [a for a in (grammar.draw() for _ in range(n)) if len(a.text) <= 62]


class Trainer:
    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.out: Path = args.out
        self.out.mkdir(parents=True, exist_ok=True)
        self.table = default_table()
        tokens = vocabulary(self.table)
        self.tokenizer = CharacterTokenizer(tokens)
        self.areas = {node.key: i for i, node in enumerate(self.table.areas())}
        torch.manual_seed(args.seed)
        self.config = AddressConfig(
            vocab_size=len(tokens),
            num_labels_cls=len(self.areas),
            hidden_size=args.hidden,
            num_hidden_layers=args.layers,
            intermediate_size=args.hidden * 4,
        )
        self.model = BertFourLevelArea(self.config)
        decayed = [p for p in self.model.parameters() if p.dim() > 1]
        plain = [p for p in self.model.parameters() if p.dim() <= 1]
        self.optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}],
            lr=args.lr,
            betas=(0.9, 0.98),
        )
        self.step = 0
        self._write_labels(tokens)
        self._resume()

    def _write_labels(self, tokens: list[str]) -> None:
        (self.out / "vocab.txt").write_text("".join(f"{t}\n" for t in tokens), encoding="utf-8")
        self.config.save(self.out / "config.json", tokenizer="character", do_lower_case=False)
        (self.out / "entity_types.txt").write_text("\n".join(ENTITY_TYPES) + "\n")
        with (self.out / "label_cls.csv").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(("label", "code", "name"))
            for key, index in self.areas.items():
                names = "/".join(n.name for n in self.table.nodes[key].chain())
                writer.writerow((index, key, names))

    def _resume(self) -> None:
        state = self.out / "trainer.pt"
        if not state.exists():
            return
        saved = torch.load(state, weights_only=True)
        self.step = saved["step"]
        self.optimizer.load_state_dict(saved["optimizer"])
        self.model.load_state_dict(load_file(self.out / "model.safetensors"))
        print(f"resumed at step {self.step}", flush=True)

    def save(self) -> None:
        save_file(self.model.state_dict(), self.out / "model.safetensors")
        temporary = self.out / "trainer.pt.part"
        torch.save({"step": self.step, "optimizer": self.optimizer.state_dict()}, temporary)
        temporary.replace(self.out / "trainer.pt")

    def rate(self) -> float:
        """Linear warm-up, then half a cosine down to 2 %."""
        if self.step < self.args.warmup:
            return (self.step + 1) / self.args.warmup
        done = (self.step - self.args.warmup) / max(1, self.args.steps - self.args.warmup)
        return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))

    def train_step(self, batch: Batch) -> tuple[float, float]:
        for group in self.optimizer.param_groups:
            group["lr"] = self.args.lr * self.rate()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.args.bf16):
            cls, ner = self.model(batch.ids, torch.zeros_like(batch.ids), batch.mask)
        entities = span_loss(ner, batch.spans)
        area = functional.cross_entropy(cls, batch.areas, ignore_index=IGNORE, reduction="sum")
        area = area / max(1, int((batch.areas != IGNORE).sum()))
        self.optimizer.zero_grad(set_to_none=True)
        (entities + AREA_WEIGHT * area).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        return entities.item(), area.item()

    def run(self) -> None:
        args = self.args
        stream = batches(
            self.table,
            self.tokenizer,
            self.areas,
            seed=args.seed,
            tokens_per_batch=args.tokens,
            skip=self.step,
        )
        began, first = time.monotonic(), self.step
        entity_sum = area_sum = 0.0
        self.model.train()
        for batch in stream:
            if self.step >= args.steps:
                break
            entities, area = self.train_step(batch)
            entity_sum += entities
            area_sum += area
            if self.step % args.log == 0:
                pace = (time.monotonic() - began) / (self.step - first)
                left = pace * (args.steps - self.step) / 60
                print(
                    f"step {self.step}/{args.steps} entity loss {entity_sum / args.log:.4f} "
                    f"area loss {area_sum / args.log:.3f} {pace * 1000:.0f} ms/step, "
                    f"{left:.1f} min left",
                    flush=True,
                )
                entity_sum = area_sum = 0.0
            if self.step % args.checkpoint == 0:
                self.save()
                report = evaluate(self.model, self.tokenizer, held_out(self.table, 300), self.areas)
                print(report.describe().splitlines()[0], flush=True)
                self.model.train()
        self.save()

    def report(self) -> None:
        """Figures on held-out generated addresses and, when given, on a hand-written file."""
        parts = []
        generated = evaluate(self.model, self.tokenizer, held_out(self.table, 3000), self.areas)
        parts.append(f"generated, held out: {generated.describe()}")
        if self.args.test:
            addresses = read_labelled(self.args.test)
            written = evaluate(self.model, self.tokenizer, addresses, self.areas)
            parts.append(f"hand-written ({len(addresses)}): {written.describe()}")
        text = "\n".join(parts)
        (self.out / "report.txt").write_text(text + "\n", encoding="utf-8")
        print(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=12000)
    parser.add_argument("--tokens", type=int, default=1536, help="tokens in a batch")
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--warmup", type=int, default=500)
    parser.add_argument("--hidden", type=int, default=192)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--log", type=int, default=50)
    parser.add_argument("--checkpoint", type=int, default=1000)
    parser.add_argument("--bf16", action="store_true", help="bfloat16 where the CPU is faster so")
    parser.add_argument("--test", type=Path, help="hand-written labelled addresses to report on")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    trainer = Trainer(args)
    trainer.run()
    trainer.report()


if __name__ == "__main__":
    main()
