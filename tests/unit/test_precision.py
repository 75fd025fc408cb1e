"""Half and a quarter of the bytes: near FP32, and no row of a batch depends on the others."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from server_bundle.chitchat import precision
from server_bundle.chitchat.checkpoint import load_network
from server_bundle.chitchat.network import ChitchatNetwork, KVCache, NetworkConfig
from server_bundle.chitchat.prompt import PromptLayout
from tests.support.chat import MODEL

CONFIG = NetworkConfig(199, 128, 128, 2, 4, 512, 1e-5, post_norm=False)


def network(kind: str, *, post_norm: bool = False) -> ChitchatNetwork:
    torch.manual_seed(3)
    made = ChitchatNetwork(
        NetworkConfig(**{**CONFIG.__dict__, "post_norm": post_norm}),
    ).eval()
    for parameter in made.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.1)
    made = precision.apply(made.requires_grad_(False), kind.removesuffix(" packed"))
    if kind.endswith("packed"):
        precision.pack(made)
        packed = [isinstance(block.qkv, precision.PackedLinear) for block in made.blocks]
        if not all(packed):
            pytest.skip("this CPU or torch has no matrices in blocks")
    return made


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "bfloat16 packed", "int8"])
@pytest.mark.parametrize("post_norm", [True, False], ids=["openai-gpt", "gpt2"])
def test_is_near_float32(kind: str, post_norm: bool) -> None:
    ids = torch.arange(24)[None] % 199
    with torch.inference_mode():
        expected = network("float32", post_norm=post_norm)(ids, ids)
        actual = network(kind, post_norm=post_norm)(ids, ids)
    assert actual.dtype == torch.float32
    error = (actual.softmax(-1) - expected.softmax(-1)).abs().max()
    assert error <= (0.0 if kind == "float32" else 0.02)


@pytest.mark.parametrize("kind", ["bfloat16", "bfloat16 packed", "int8"])
def test_a_row_does_not_depend_on_its_neighbours(kind: str) -> None:
    """Whatever the number and the lengths of the other rows: the cache has the same bits, and what
    FP32's projection to the vocabulary adds is FP32's own rounding."""
    net = network(kind)
    lengths = [40, 41, 60, 33, 100, 7, 20, 90, 120, 10]

    def first_row(rows: int, spans: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        torch.manual_seed(1)
        cache = KVCache(CONFIG, 10, dtype=net.compute)
        for block in (*cache.keys, *cache.values):
            block.normal_()
        ids = torch.arange(rows) + 5
        positions = torch.tensor(spans[:rows])
        logits = net.decode(ids, ids + 9, positions, max(spans[:rows]), cache)[0]
        return logits, cache.keys[-1][0, :, spans[0]]

    with torch.inference_mode():
        alone, key = first_row(1, lengths)
        for rows in range(2, 11):
            for spans in (lengths, [40] * 10):
                logits, last_key = first_row(rows, spans)
                assert torch.equal(last_key, key)
                torch.testing.assert_close(logits, alone, atol=2e-5, rtol=0)


def test_a_step_goes_by_the_matrices_of_now() -> None:
    """Steps keep what they need of the modules; whatever replaces one makes them look again."""

    def step(net: ChitchatNetwork) -> torch.Tensor:
        one = torch.tensor([5])
        cache = KVCache(CONFIG, 1, dtype=net.compute)
        return net.decode(one, one, torch.tensor([0]), 0, cache)[0]

    with torch.inference_mode():
        for kind in ("bfloat16", "int8"):
            late = network("float32")
            exact = step(late)
            precision.apply(late, kind)
            assert torch.equal(step(late), step(network(kind)))
            for change in (precision.pack, ChitchatNetwork.transpose_table):
                change(late)
                assert late._flat is None
                torch.testing.assert_close(step(late), exact, atol=0.1, rtol=0.1)
        copied = copy.deepcopy(late)
        copied.wte.weight.zero_()
        assert not torch.equal(step(copied), step(late))
        moved = network("float32")
        step(moved)
        moved.to(torch.float64)
        moved.compute = torch.float64
        assert step(moved).dtype == torch.float32
        torch.testing.assert_close(step(moved), exact, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", ["bfloat16", "bfloat16 packed", "int8"])
def test_a_step_gives_what_the_whole_context_gives(kind: str) -> None:
    net = network(kind)
    ids = torch.arange(12) + 3
    with torch.inference_mode():
        cache = KVCache(CONFIG, 1, dtype=net.compute)
        net.prefill(ids[:-1], ids[:-1], cache, 0)
        step = net.decode(ids[-1:], ids[-1:], torch.tensor([11]), 11, cache)[0]
        whole = net(ids[None], ids[None])[0, -1]
    assert (step.softmax(-1) - whole.softmax(-1)).abs().max() < 0.02


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_large_networks_in_float32_are_transposed(
    monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    net = network("float32")
    cache, other = KVCache(CONFIG, rows), KVCache(CONFIG, rows)
    prompt = torch.arange(12) + 3
    ids, positions = torch.arange(rows) + 40, torch.full((rows,), 12)
    with torch.inference_mode():
        for slot in range(rows):
            net.prefill(prompt, prompt, cache, slot)
        expected = net.decode(ids, ids, positions, 12, cache)
        monkeypatch.setattr(precision, "SMALL", 1)
        precision.pack(net)
        assert isinstance(net.blocks[0].mlp_in, precision.TransposedLinear)
        for slot in range(rows):
            net.prefill(prompt, prompt, other, slot)
        torch.testing.assert_close(net.decode(ids, ids, positions, 12, other), expected)


def test_what_needs_no_packing_stays_as_it_is() -> None:
    for kind in ("float32", "int8"):
        net = network(kind)
        before = [type(block.qkv) for block in net.blocks]
        precision.pack(net)
        assert [type(block.qkv) for block in net.blocks] == before


def test_what_cannot_be_packed_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    net = network("bfloat16")
    forward = precision.PackedLinear.forward

    def other_bits(self: precision.PackedLinear, x: torch.Tensor) -> torch.Tensor:
        y = forward(self, x)
        return y * (1.01 if len(x) > 8 else 1.0)

    monkeypatch.setattr(precision.PackedLinear, "forward", other_bits)
    precision.pack(net)
    assert not any(isinstance(m, precision.PackedLinear) for m in net.modules())


def test_the_shipped_model_keeps_its_predictions() -> None:
    """Mean absolute difference of the natural log probability of real text, per character."""
    layout = PromptLayout.from_folder(MODEL)
    prompt = layout.encode(["你好", "你好呀，很高兴见到你。"], "今天工作好累，想早点休息", 64)
    ids, types = torch.tensor([prompt.ids]), torch.tensor([prompt.types])

    def log_probabilities(kind: str) -> torch.Tensor:
        with torch.inference_mode():
            logits = precision.apply(load_network(MODEL), kind)(ids, types)[0, :-1]
        return logits.log_softmax(-1).gather(1, ids[0, 1:, None])[:, 0]

    exact = log_probabilities("float32")
    for kind, bound in (("bfloat16", 0.03), ("int8", 0.08)):
        assert (log_probabilities(kind) - exact).abs().mean() < bound


def test_auto_depends_on_size_and_device() -> None:
    small = network("float32")
    assert precision.choose("auto", small, "cpu") == "float32"
    assert precision.choose("auto", small, "cuda") == "float16"
    with torch.device("meta"):
        large = ChitchatNetwork(NetworkConfig(13088, 512, 768, 12, 12, 3072, 1e-5, False))
    expected = "bfloat16" if precision.fast_bfloat16() else "float32"
    assert precision.choose("auto", large, "cpu") == expected
    assert precision.choose("int8", small, "cpu") == "int8"


@pytest.mark.parametrize(
    ("wanted", "device", "words"),
    [
        ("half", "cpu", "precision is one of"),
        ("int8", "cuda", "int8 is for CPUs"),
        ("float16", "cpu", "float16 is for GPUs"),
    ],
)
def test_what_cannot_be_is_refused(wanted: str, device: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        precision.choose(wanted, network("float32"), device)
