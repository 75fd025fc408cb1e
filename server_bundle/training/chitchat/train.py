"""The training run: corpus, schedule, checkpoints, report."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from server_bundle.chitchat.checkpoint import load_network, network_config
from server_bundle.chitchat.folder import read_json
from server_bundle.chitchat.network import ChitchatNetwork
from server_bundle.chitchat.prompt import PromptLayout
from server_bundle.training.chitchat.batches import Mixture, group
from server_bundle.training.chitchat.dialogues import (
    EXCHANGES,
    KINDS,
    LONG,
    SMALL_TALK,
    Dialogue,
    DialogueError,
    hold_out,
    read_all,
)
from server_bundle.training.chitchat.evaluate import held_out_windows, perplexity, to_rows
from server_bundle.training.chitchat.exclude import Exclusion
from server_bundle.training.chitchat.export import write_folder
from server_bundle.training.chitchat.optimizer import Optimizer
from server_bundle.training.chitchat.parallel import Crew
from server_bundle.training.chitchat.rows import choose_rows, start_new_rows
from server_bundle.training.chitchat.windows import Window, WindowMaker
from server_bundle.training.chitchat.wording import common_bigrams


@dataclass(frozen=True)
class Settings:
    """What a run is told. ``start`` None trains from scratch, in the layout of ``pattern``.

    Either ``steps`` or ``minutes`` ends it; the rates hold for the share ``hold`` of that, then
    fall to 0 in a line. ``last``: the last weights are the result, not those of the best held-out
    perplexity, which rises with a model's certainty while its replies may still get better.
    """

    out: Path
    pattern: Path
    start: Path | None
    exchanges: tuple[Path, ...] = ()
    dialogues: tuple[Path, ...] = ()
    steps: int | None = None
    minutes: float | None = None
    tokens: int = 4096
    share_exchanges: float = 0.35
    share_small_talk: float = 0.06
    held_out: float = 0.04
    join: float = 0.1
    blank: float = 0.1
    dropout: float = 0.2
    muon_rate: float = 0.01
    adam_rate: float = 0.0015
    warmup: int = 50
    hold: float = 0.4
    seed: int = 1
    processes: int = 1
    threads: int = 1
    bf16: bool = False
    checkpoint_minutes: float = 4.0
    last: bool = False
    layers: int = 6
    width: int = 256
    heads: int = 4


@dataclass
class Corpus:
    """Dialogues by kind, those held out, and how many were read and dropped."""

    train: dict[str, list[Dialogue]]
    held_out: dict[str, list[Dialogue]]
    counts: dict[str, Any] = field(default_factory=dict)


def read_corpus(settings: Settings, exclusion: Exclusion) -> Corpus:
    """All dialogues of the settings. Raises :class:`DialogueError`."""
    exchanges = hold_out(read_all(settings.exchanges, EXCHANGES), settings.held_out)
    found = [*exchanges, *read_all(settings.dialogues, LONG)]
    kept, dropped = exclusion.keep(dict.fromkeys(found))
    if not any(not dialogue.held_out for dialogue in kept):
        raise DialogueError("there are no dialogues to train on")
    corpus = Corpus({k: [] for k in KINDS}, {k: [] for k in KINDS})
    for dialogue in kept:
        (corpus.held_out if dialogue.held_out else corpus.train)[dialogue.kind].append(dialogue)
    corpus.counts = {
        "dialogues": {k: len(v) for k, v in corpus.train.items()},
        "user turns": {k: sum(len(d.turns) // 2 for d in v) for k, v in corpus.train.items()},
        "held out": {k: len(v) for k, v in corpus.held_out.items()},
        "sources": dict(Counter(d.source for d in kept if d.kind != EXCHANGES)),
        "dropped for a message that judges the model": dropped,
    }
    return corpus


class Trainer:
    """Trains one network; everything it needs to go on is in ``settings.out``."""

    def __init__(self, settings: Settings, corpus: Corpus, exclusion: Exclusion) -> None:
        self.settings = settings
        self.corpus = corpus
        self.source = settings.start or settings.pattern
        self.layout = PromptLayout.from_folder(self.source)
        self.config = read_json(self.source / "config.json")
        self.full: Tensor | None = None
        torch.manual_seed(settings.seed)
        every = [d for part in (corpus.train, corpus.held_out) for v in part.values() for d in v]
        if settings.start is not None:
            self.network = load_network(settings.start)
            self.full = self.network.wte.weight.detach().clone()
        else:
            self.config |= {
                "n_layer": settings.layers,
                "n_embd": settings.width,
                "n_head": settings.heads,
                "n_inner": None,
            }
            self.network = ChitchatNetwork(network_config(self.config))
            _initialise(self.network)
        self.rows, self.new_rows = choose_rows(self.layout, every, self.full)
        table = self.network.wte.weight.detach()
        trained = self.rows.take(table)
        if self.full is None:
            self.full = trained[self.rows.pad_row].expand(table.shape).clone()
        else:
            start_new_rows(self.rows, trained, table)
        self.network.wte = torch.nn.Embedding.from_pretrained(trained, freeze=False)
        self.optimizer = Optimizer(
            self.network, muon_rate=settings.muon_rate, adam_rate=settings.adam_rate
        )
        sample = [t for d in corpus.train[LONG][:4000] for t in d.turns]
        sample += [t for d in corpus.train[EXCHANGES] for t in d.turns]
        openings = [*corpus.train[SMALL_TALK], *corpus.train[EXCHANGES]]
        maker = WindowMaker(
            self.layout,
            common_bigrams(sample, 400),
            exclusion,
            openings,
            settings.join,
            settings.blank,
        )
        self.mixture = Mixture(corpus.train, self._shares(), maker, settings.seed)
        self.windows: dict[str, list[Window]] = {
            kind: held_out_windows(self.layout, corpus.held_out[kind], maker, limit)
            for kind, limit in ((EXCHANGES, 300), (LONG, 80))
        }
        self.step = 0
        self.elapsed = 0.0
        self.seen = 0
        self.history: list[dict[str, float]] = []
        self.best: dict[str, Any] = {"perplexity": float("inf"), "step": 0, "network": None}
        self._stop = False
        self.out = settings.out
        self.out.mkdir(parents=True, exist_ok=True)
        self._resume()

    def _shares(self) -> dict[str, float]:
        talk, short = self.settings.share_small_talk, self.settings.share_exchanges
        return {EXCHANGES: short, SMALL_TALK: talk, LONG: max(0.0, 1 - short - talk)}

    # ---- checkpoints ----

    def save(self) -> None:
        """Write ``trainer.pt``, whole or not at all."""
        state = {
            "step": self.step,
            "elapsed": self.elapsed,
            "seen": self.seen,
            "active": self.rows.active,
            "network": {k: v.detach().clone() for k, v in self.network.state_dict().items()},
            "optimizer": self.optimizer.state_dict(),
            "mixture": self.mixture.state(),
            "history": self.history,
            "best": self.best,
        }
        part = self.out / "trainer.pt.part"
        torch.save(state, part)
        part.replace(self.out / "trainer.pt")

    def _resume(self) -> None:
        path = self.out / "trainer.pt"
        if not path.exists():
            return
        try:
            saved = torch.load(path, weights_only=True)
            if not torch.equal(saved["active"], self.rows.active):
                raise ValueError("the dialogues or the start weights are not those it began with")
            self.network.load_state_dict(saved["network"])
        except (RuntimeError, KeyError, ValueError, OSError) as error:
            raise DialogueError(
                f"the training in {self.out} cannot be resumed; choose an empty folder: {error}"
            ) from None
        self.optimizer.load_state_dict(saved["optimizer"])
        self.mixture.restore(saved["mixture"])
        for name in ("step", "elapsed", "seen", "history", "best"):
            setattr(self, name, saved[name])
        print(f"resumed at step {self.step}, after {self.elapsed / 60:.1f} min", flush=True)

    # ---- schedule ----

    def progress(self) -> float:
        """Share of the budget that is used up."""
        if self.settings.steps is not None:
            return self.step / max(1, self.settings.steps)
        return self.elapsed / (60 * max(1e-9, self.settings.minutes or 0.0))

    def factor(self) -> float:
        """Share of the full rates at this point: warm-up, constant, linear to 0."""
        hold = self.settings.hold
        decay = (1 - self.progress()) / (1 - hold) if hold < 1 else 1.0
        return max(0.0, min(1.0, decay, (self.step + 1) / max(1, self.settings.warmup)))

    # ---- the run ----

    def evaluate(self) -> dict[str, float]:
        """Held-out perplexities by kind; keeps the weights if those of the exchanges are best."""
        threads = torch.get_num_threads()
        torch.set_num_threads(max(threads, self.settings.processes))
        figures = {
            kind: perplexity(self.network, self.rows, windows, bf16=self.settings.bf16)
            for kind, windows in self.windows.items()
            if windows
        }
        torch.set_num_threads(threads)
        self.history.append({"step": self.step, "minutes": self.elapsed / 60, **figures})
        judged = figures.get(EXCHANGES, figures.get(LONG))
        if judged is None or judged <= self.best["perplexity"]:
            self.best = {
                "perplexity": judged if judged is not None else float("inf"),
                "step": self.step,
                "network": {k: v.detach().clone() for k, v in self.network.state_dict().items()},
            }
        told = ", ".join(f"{kind} {value:.3f}" for kind, value in figures.items())
        print(f"step {self.step}: held-out perplexity: {told or 'nothing is held out'}", flush=True)
        return figures

    def run(self) -> None:
        """Train until the budget is used up or somebody asks to stop (Ctrl-C, SIGTERM)."""
        settings = self.settings
        previous = {
            number: signal.signal(number, self._ask_to_stop)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            with Crew(
                self.network,
                self.optimizer,
                processes=settings.processes,
                threads=settings.threads,
                pad_row=self.rows.pad_row,
                pad_shift=self.rows.pad_shift,
                dropout=settings.dropout,
                bf16=settings.bf16,
            ) as crew:
                self._loop(crew)
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
        self.save()

    def _ask_to_stop(self, *_: object) -> None:
        self._stop = True

    def _loop(self, crew: Crew) -> None:
        if not self.history:
            self.evaluate()
        clock = told = checked = time.monotonic()
        losses: list[float] = []
        tokens = 0
        while self.progress() < 1 and not self._stop:
            windows = self.mixture.draw(self.settings.tokens)
            # half of what one process computes at a time, so that two get equal parts
            batches = [to_rows(b, self.rows) for b in group(windows, self.rows.pad, 1024)]
            seed = self.settings.seed * 1_000_003 + self.step * 16
            losses.append(crew.step(batches, factor=self.factor(), count=self.step + 1, seed=seed))
            self.step += 1
            tokens += sum(len(w.ids) for w in windows)
            self.seen += sum(len(w.ids) for w in windows)
            now = time.monotonic()
            self.elapsed += now - clock
            clock = now
            if now - told > 20:
                pace = tokens / (now - told)
                print(
                    f"step {self.step}, {100 * self.progress():.1f} %, {self.seen / 1e6:.2f} M "
                    f"tokens, {pace:.0f} tokens/s, loss {sum(losses) / len(losses):.4f}, "
                    f"rate x {self.factor():.3f}",
                    flush=True,
                )
                told, tokens, losses = now, 0, []
            if now - checked > 60 * self.settings.checkpoint_minutes:
                self.evaluate()
                self.save()
                checked = time.monotonic()
        self.evaluate()

    def export(self, folder: Path) -> None:
        """Write the best weights so far, or, where so set, the last, as a servable folder."""
        best = None if self.settings.last else self.best["network"]
        state = best or self.network.state_dict()
        state = {name: value.detach().clone() for name, value in state.items()}
        assert self.full is not None
        state["wte.weight"] = self.rows.give(state["wte.weight"], self.full)
        write_folder(folder, self.source, state, self.config, self.network.config.post_norm)

    def describe(self) -> dict[str, Any]:
        """Counts and figures of the run, for the report."""
        return {
            "steps": self.step,
            "minutes": round(self.elapsed / 60, 2),
            "tokens": self.seen,
            "best step": self.best["step"],
            "rows trained": len(self.rows.active),
            "rows new": self.new_rows,
            "rounds": {k: round(v, 2) for k, v in self.mixture.epochs().items()},
            "reply tokens": dict(self.mixture.replies),
            "history": self.history,
            **self.corpus.counts,
        }


def _initialise(network: ChitchatNetwork) -> None:
    """GPT-2's start: normal, sd 0.02; what adds to the residual smaller by sqrt(2 layers)."""
    for name, parameter in network.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.zeros_(parameter)
        elif parameter.dim() > 1:
            scale = 0.02
            if name.endswith(("attn_out.weight", "mlp_out.weight")):
                scale /= (2 * network.config.n_layer) ** 0.5
            torch.nn.init.normal_(parameter, std=scale)


def write_report(path: Path, report: dict[str, Any]) -> None:
    path.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
