"""The network: BERT's own figures, masks, devices, export and GlobalPointer decoding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch._subclasses.fake_tensor import FakeTensorMode

from server_bundle.address.entities import ENTITY_TYPES
from server_bundle.address.export import (
    ExportError,
    device_constants,
    example,
    export,
    trace,
    verify,
)
from server_bundle.address.global_pointer import decode
from server_bundle.address.network import MASKED, AddressConfig, BertFourLevelArea

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")

CONFIG = AddressConfig(
    vocab_size=200,
    num_labels_cls=11,
    hidden_size=48,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=96,
    inner_dim=8,
    scale=8**-0.5,
)


def network(config: AddressConfig = CONFIG) -> BertFourLevelArea:
    torch.manual_seed(0)
    model = BertFourLevelArea(config).eval()
    with torch.no_grad():  # larger than freshly initialised, so that differences show
        for parameter in model.parameters():
            parameter.mul_(4).add_(torch.randn_like(parameter) * 0.02)
    return model


def test_the_encoder_is_transformers_bert() -> None:
    transformers = pytest.importorskip("transformers")
    mine = network()
    reference = transformers.BertModel(
        transformers.BertConfig(
            vocab_size=200,
            hidden_size=48,
            num_hidden_layers=2,
            num_attention_heads=3,
            intermediate_size=96,
            max_position_embeddings=128,
        )
    ).eval()
    missing, unexpected = reference.load_state_dict(mine.bert.state_dict(), strict=False)
    assert unexpected == []
    assert all("position_ids" in name for name in missing)
    ids, segments, mask = example(CONFIG, 3, 21)
    with torch.no_grad():
        theirs = reference(ids, attention_mask=mask, token_type_ids=segments)
        sequence, pooled = mine.bert(ids, segments, mask)
    real = mask.bool()
    torch.testing.assert_close(sequence[real], theirs.last_hidden_state[real], atol=1e-5, rtol=0)
    torch.testing.assert_close(pooled, theirs.pooler_output, atol=1e-5, rtol=0)


@torch.no_grad()
def test_padding_changes_nothing_and_is_masked() -> None:
    model = network()
    ids, segments, mask = example(CONFIG, 1, 12)
    cls, ner = model(ids, segments, mask)
    pad = torch.zeros(1, 9, dtype=torch.long)
    wide_cls, wide_ner = model(*(torch.cat([t, pad], 1) for t in (ids, segments, mask)))
    torch.testing.assert_close(wide_cls, cls, atol=1e-5, rtol=0)
    torch.testing.assert_close(wide_ner[..., :12, :12], ner, atol=1e-5, rtol=0)
    assert (wide_ner[..., 12:] == MASKED).all()
    assert (ner.tril(-1) <= 0).all()


@torch.no_grad()
def test_rope_makes_scores_depend_on_the_distance_only() -> None:
    """<R_m q, R_n k> is a function of n - m (arXiv 2104.09864, equation 16)."""
    model = network()
    x = torch.randn(1, 1, 1, CONFIG.inner_dim).expand(1, 20, 1, CONFIG.inner_dim)
    rotated = model._rotate(x)[0, :, 0]
    scores = rotated @ rotated.T
    for distance in (0, 1, 7):
        diagonal = scores.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), atol=1e-4, rtol=0)


@pytest.mark.parametrize("rope", [True, False])
def test_a_trace_runs_at_every_shape_and_names_no_device(rope: bool) -> None:
    model = network(AddressConfig(**{**vars(CONFIG), "rope": rope}))
    traced = trace(model)  # verifies at batch 1, 3, 8 and length 8, 33, 64
    assert device_constants(traced) == []
    assert "Device =" not in str(traced.inlined_graph)


def test_a_baked_device_is_refused() -> None:
    class Baked(torch.nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
            return a + torch.arange(a.size(1), device=a.device)

    traced = torch.jit.trace(Baked(), example(CONFIG, 2, 16), check_trace=False)
    with pytest.raises(ExportError, match="bound to a device"):
        verify(network(), traced)


def test_a_baked_length_is_refused() -> None:
    model = network()

    class Baked(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(
            self, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor
        ) -> tuple[torch.Tensor, torch.Tensor]:
            cls, ner = self.model(a, b, c)
            return cls, ner[..., :16]

    traced = torch.jit.trace(Baked(), example(CONFIG, 2, 16), check_trace=False)
    with pytest.raises(ExportError, match="instead of"):
        verify(model, traced)


def test_export_writes_what_the_server_needs(tmp_path: Path) -> None:
    model = network()
    source, out = tmp_path / "checkpoint", tmp_path / "served"
    source.mkdir()
    CONFIG.save(source / "config.json", tokenizer="character")
    save_file(model.state_dict(), source / "model.safetensors")
    (source / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n")
    (source / "label_cls.csv").write_text("\n".join(f"{i},area {i}" for i in range(11)))
    (source / "entity_types.txt").write_text("\n".join(ENTITY_TYPES))
    found, worst = export(source, out)
    assert worst < 1e-4
    assert sorted(p.name for p in out.iterdir()) == [
        "config.json", "entity_types.txt", "label_cls.csv", "model.pt", "vocab.txt"
    ]  # fmt: skip
    again = found.network
    inputs = example(CONFIG, 2, 9)
    with torch.no_grad():
        assert torch.equal(again(*inputs)[1], model(*inputs)[1])


def test_every_tensor_stays_on_the_gpu() -> None:
    """Fake tensors on "cuda" raise where an operation mixes devices; no GPU is needed."""
    with FakeTensorMode(), torch.no_grad():
        model = network_shell("cuda")
        ids = torch.zeros(2, 9, dtype=torch.long, device="cuda")
        cls, ner = model(ids, ids, ids)
    assert cls.device.type == ner.device.type == "cuda"
    assert cls.shape == (2, 11)
    assert ner.shape == (2, 13, 9, 9)


def network_shell(device: str) -> BertFourLevelArea:
    model = BertFourLevelArea(CONFIG).eval()
    for module in model.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                empty = torch.empty(parameter.shape, device=device)
                module._parameters[name] = torch.nn.Parameter(empty, requires_grad=False)
        for name, buffer in module._buffers.items():
            assert buffer is not None
            module._buffers[name] = torch.empty(buffer.shape, dtype=buffer.dtype, device=device)
    return model


# -- decoding ------------------------------------------------------------------------------------


def scores(*cells: tuple[str, int, int, float], length: int = 8) -> np.ndarray:
    matrix = np.full((13, length, length), MASKED, np.float32)
    for type_, first, last, value in cells:
        matrix[ENTITY_TYPES.index(type_), first, last] = value
    return matrix


OFFSETS = [(0, 0), (0, 1), (1, 2), (2, 3), (3, 4), (4, 4)]


def test_decode_takes_what_is_above_zero() -> None:
    spans = decode(scores(("prov", 1, 2, 3.0), ("city", 3, 4, -0.1)), OFFSETS, ENTITY_TYPES)
    assert [(s.start, s.end, s.type) for s in spans] == [(0, 2, "prov")]
    assert spans[0].score == pytest.approx(1 / (1 + np.exp(-3.0)))


def test_decode_leaves_out_cls_sep_padding_and_backward_spans() -> None:
    matrix = scores(
        ("prov", 0, 1, 9.0), ("prov", 2, 5, 9.0), ("prov", 6, 7, 9.0), ("prov", 3, 2, 9.0)
    )
    assert decode(matrix, OFFSETS, ENTITY_TYPES) == []


def test_of_overlapping_spans_the_best_stays() -> None:
    matrix = scores(("poi", 1, 4, 2.0), ("road", 1, 2, 5.0), ("roadno", 3, 4, 1.0))
    spans = decode(matrix, OFFSETS, ENTITY_TYPES)
    assert [(s.start, s.end, s.type) for s in spans] == [(0, 2, "road"), (2, 4, "roadno")]
