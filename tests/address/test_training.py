"""Training: the published loss, steps that help, and a resumed run that ends the same."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from server_bundle.address.network import MASKED
from server_bundle.training.address.dataset import batches
from server_bundle.training.address.evaluate import evaluate, read_labelled
from server_bundle.training.address.train import Trainer, held_out, span_loss


def arguments(out: Path, **changes: object) -> argparse.Namespace:
    values: dict[str, object] = {
        "out": out,
        "steps": 6,
        "tokens": 256,
        "lr": 1e-3,
        "warmup": 2,
        "hidden": 32,
        "layers": 1,
        "seed": 1,
        "threads": 1,
        "log": 2,
        "checkpoint": 1000,
        "bf16": False,
        "test": None,
    }
    return argparse.Namespace(**{**values, **changes})


def test_the_loss_is_multilabel_categorical_cross_entropy() -> None:
    """log(1 + Σ over the others of e^s) + log(1 + Σ over the true of e^-s), arXiv 2208.02955."""
    torch.manual_seed(0)
    scores = torch.randn(2, 3, 5, 5)
    scores[..., 4] = MASKED
    gold = torch.zeros(2, 3, 5, 5)
    gold[0, 1, 0, 2] = gold[0, 1, 3, 3] = gold[1, 2, 1, 1] = 1
    expected = []
    for b in range(2):
        for t in range(3):
            true = scores[b, t][gold[b, t] == 1].double()
            others = scores[b, t][gold[b, t] == 0].double()
            expected.append((1 + others.exp().sum()).log() + (1 + (-true).exp().sum()).log())
    wanted = torch.stack(expected).mean()
    torch.testing.assert_close(span_loss(scores, gold).double(), wanted, atol=1e-5, rtol=0)


def test_an_interrupted_run_ends_with_the_same_weights(tmp_path: Path) -> None:
    whole = Trainer(arguments(tmp_path / "whole"))
    whole.run()
    first = Trainer(arguments(tmp_path / "parts"))
    stream = batches(first.table, first.tokenizer, first.areas, seed=1, tokens_per_batch=256)
    first.model.train()
    for _ in range(3):
        first.train_step(next(stream))
    first.save()
    second = Trainer(arguments(tmp_path / "parts"))
    assert second.step == 3
    second.run()
    one = load_file(tmp_path / "whole" / "model.safetensors")
    other = load_file(tmp_path / "parts" / "model.safetensors")
    assert one.keys() == other.keys()
    for name in one:
        torch.testing.assert_close(one[name], other[name], atol=1e-5, rtol=1e-4)


@pytest.mark.slow
def test_steps_lower_the_loss(tmp_path: Path) -> None:
    trainer = Trainer(arguments(tmp_path, steps=150, warmup=20, lr=3e-3, tokens=512))
    stream = batches(trainer.table, trainer.tokenizer, trainer.areas, seed=1, tokens_per_batch=512)
    losses = [trainer.train_step(next(stream))[0] for _ in range(150)]
    assert sum(losses[-20:]) < 0.4 * sum(losses[:20])


def test_the_report_counts_exact_spans(tmp_path: Path) -> None:
    trainer = Trainer(arguments(tmp_path))
    report = evaluate(trainer.model, trainer.tokenizer, held_out(trainer.table, 40), trainer.areas)
    assert 0 <= report.f1 <= 1
    assert report.per_type["road"][3] > 0
    assert "F1" in report.describe()


def test_a_label_that_is_not_in_its_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("杭州市余杭区 | city=宁波市\n", encoding="utf-8")
    with pytest.raises(ValueError, match="宁波市"):
        read_labelled(tmp_path / "x.txt")
