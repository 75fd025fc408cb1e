"""Models of transformers on the engine's own slots: the logits are those of the bare model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from server_bundle.chitchat import causal
from server_bundle.chitchat.causal import CausalNetwork, load_causal
from server_bundle.chitchat.engine import Engine, Request
from server_bundle.chitchat.folder import CheckpointError, Vocabulary
from server_bundle.chitchat.network import KVCache
from server_bundle.chitchat.parameters import SamplingParameters
from tests.support.engine import Collected

SIZES = {
    "vocab_size": 211,
    "hidden_size": 48,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "eos_token_id": 2,
    "bos_token_id": 1,
}
# Windows far shorter than the rows, so that a wrong mask shows.
KINDS: dict[str, tuple[Any, Any]] = {
    "qwen2": (Qwen2ForCausalLM, Qwen2Config(**SIZES)),
    "qwen3": (Qwen3ForCausalLM, Qwen3Config(**SIZES, head_dim=16)),
    "llama": (LlamaForCausalLM, LlamaConfig(**SIZES)),
    "mistral": (MistralForCausalLM, MistralConfig(**SIZES, sliding_window=6)),
    "gemma2": (Gemma2ForCausalLM, Gemma2Config(**SIZES, head_dim=8, sliding_window=6)),
    "gemma3": (Gemma3ForCausalLM, Gemma3TextConfig(**SIZES, head_dim=8, sliding_window=6)),
}


def make(kind: str, folder: Path) -> Any:
    cls, config = KINDS[kind]
    torch.manual_seed(1)
    model = cls(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    model.save_pretrained(folder)
    return cls.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()


def tokens(rows: int, length: int) -> torch.Tensor:
    return torch.randint(3, 211, (rows, length), generator=torch.Generator().manual_seed(4))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_different_lengths_agree_with_transformers(kind: str, tmp_path: Path) -> None:
    reference = make(kind, tmp_path)
    network = load_causal(tmp_path, (2,), dtype=torch.float32)
    cache = KVCache(network.config, 4, 64)
    ids, lengths = tokens(3, 24), [3, 17, 9]
    with torch.inference_mode():
        expected = reference(ids).logits
        for row, length in enumerate(lengths):
            logits = network.prefill(ids[row, :length], None, cache, row)
            torch.testing.assert_close(logits, expected[row, length - 1], atol=1e-4, rtol=1e-4)
        for step in range(6):
            places = torch.tensor([length + step for length in lengths])
            rows = torch.arange(3)
            logits = network.decode(ids[rows, places], None, places, int(places.max()), cache)
            torch.testing.assert_close(logits, expected[rows, places], atol=1e-4, rtol=1e-4)


def test_attention_by_a_mask_as_on_a_gpu_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("gemma3", tmp_path)
    network = load_causal(tmp_path, (2,), dtype=torch.float32)
    cache = KVCache(network.config, 4, 64)
    ids, places = tokens(2, 20), torch.tensor([5, 17])
    with torch.inference_mode():
        for row in range(2):
            network.prefill(ids[row, : int(places[row])], None, cache, row)
        apart = network.decode(ids[:, 19], None, places, 17, cache)
        monkeypatch.setattr(causal, "_ROW_BY_ROW", ())
        masked = network.decode(ids[:, 19], None, places, 17, cache)
    torch.testing.assert_close(masked, apart, atol=1e-5, rtol=1e-5)


def test_several_stops_count_as_one(tmp_path: Path) -> None:
    make("llama", tmp_path)
    one = load_causal(tmp_path, (2,), dtype=torch.float32)
    both = load_causal(tmp_path, (2, 7), dtype=torch.float32)
    ids = tokens(1, 9)[0]
    with torch.inference_mode():
        plain = one.prefill(ids, None, KVCache(one.config, 1, 16), 0).softmax(-1)
        folded = both.prefill(ids, None, KVCache(both.config, 1, 16), 0).softmax(-1)
    assert float(folded[7]) == 0.0
    assert float(folded[2]) == pytest.approx(float(plain[2] + plain[7]), rel=1e-4)


def replies(network: CausalNetwork, prompts: list[list[int]]) -> list[list[int]]:
    engine = Engine(network, Vocabulary(211, 2, (0, 1)), slots=4, context=64)  # type: ignore[arg-type]
    engine.start()
    sinks = [Collected() for _ in prompts]
    for seed, (prompt, sink) in enumerate(zip(prompts, sinks, strict=True)):
        parameters = SamplingParameters(seed=seed, max_tokens=20, temperature=1.0)
        engine.submit(Request(prompt, None, 0, parameters, sink))
    ids = [sink.ids for sink in sinks]
    assert all(sink.end in ("stop", "length") for sink in sinks)
    engine.stop()
    return ids


def test_a_reply_is_the_same_whoever_else_is_answered(tmp_path: Path) -> None:
    make("qwen2", tmp_path)
    network = load_causal(tmp_path, (2,), dtype=torch.float32)
    prompts = [row[: 3 + 5 * i].tolist() for i, row in enumerate(tokens(4, 24))]
    together = replies(network, prompts)
    engine_alone = [replies(network, [*[[5]] * i, prompt])[i] for i, prompt in enumerate(prompts)]
    assert together == engine_alone


def test_a_model_with_another_kind_of_memory_is_refused(tmp_path: Path) -> None:
    config = MambaConfig(vocab_size=211, hidden_size=48, num_hidden_layers=2, eos_token_id=2)
    MambaForCausalLM(config).save_pretrained(tmp_path)
    with pytest.raises(CheckpointError, match="keeps more than keys and values"):
        load_causal(tmp_path, (2,), dtype=torch.float32)


def test_the_dtype_fits_the_machine() -> None:
    assert causal.choose_dtype("bfloat16", "cpu", 10, 1) is torch.bfloat16
    assert causal.choose_dtype("auto", "cpu", 1_000_000, 1 << 30) is torch.float32
    # Half of the memory would not hold it in FP32.
    assert causal.choose_dtype("auto", "cpu", 7_000_000_000, 16 << 30) is torch.bfloat16
    assert causal.choose_dtype("float16", "cpu", 1_000_000, 1 << 30) is torch.float32
