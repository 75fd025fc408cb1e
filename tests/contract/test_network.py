"""The network against transformers: both architectures, random weights and the shipped ones."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    OpenAIGPTConfig,
    OpenAIGPTLMHeadModel,
    PreTrainedModel,
)

from server_bundle.chitchat.checkpoint import load_network
from server_bundle.chitchat.folder import CheckpointError
from server_bundle.chitchat.network import KVCache

SIZES = {"vocab_size": 211, "n_positions": 64, "n_embd": 48, "n_layer": 3, "n_head": 4}


def gpt2() -> PreTrainedModel:
    return GPT2LMHeadModel(GPT2Config(**SIZES))


def openai_gpt() -> PreTrainedModel:
    return OpenAIGPTLMHeadModel(OpenAIGPTConfig(**SIZES))


@pytest.fixture(params=[gpt2, openai_gpt], ids=["gpt2", "openai-gpt"])
def reference(request: pytest.FixtureRequest) -> PreTrainedModel:
    torch.manual_seed(5)
    model = request.param().eval()
    with torch.no_grad():  # the default init is so small that a wrong block would hardly show
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.15)
    return model


@pytest.fixture
def folder(reference: PreTrainedModel, tmp_path: Path) -> Path:
    reference.save_pretrained(tmp_path)
    return tmp_path


def batch(rows: int = 3, length: int = 17) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(9)
    ids = torch.randint(0, SIZES["vocab_size"], (rows, length), generator=generator)
    types = torch.randint(0, SIZES["vocab_size"], (rows, length), generator=generator)
    return ids, types


@pytest.mark.parametrize("with_types", [True, False])
def test_logits_agree_with_transformers(
    reference: PreTrainedModel, folder: Path, with_types: bool
) -> None:
    ids, types = batch()
    with torch.inference_mode():
        expected = reference(ids, token_type_ids=types if with_types else None).logits
        actual = load_network(folder)(ids, types if with_types else None)
    torch.testing.assert_close(actual, expected, atol=1e-4, rtol=1e-4)


def test_cached_steps_of_rows_of_different_lengths_agree(
    reference: PreTrainedModel, folder: Path
) -> None:
    network = load_network(folder)
    network.transpose_table()  # as it is served on a CPU
    cache = KVCache(network.config, slots=4)
    ids, types = batch(rows=3, length=24)
    lengths = [3, 11, 7]
    with torch.inference_mode():
        expected = reference(ids, token_type_ids=types).logits
        for row, length in enumerate(lengths):
            logits = network.prefill(ids[row, :length], types[row, :length], cache, row)
            torch.testing.assert_close(logits, expected[row, length - 1], atol=1e-4, rtol=1e-4)
        for step in range(10):
            positions = torch.tensor([length + step for length in lengths])
            rows = torch.arange(3)
            logits = network.decode(
                ids[rows, positions], types[rows, positions], positions, int(positions.max()), cache
            )
            torch.testing.assert_close(logits, expected[rows, positions], atol=1e-4, rtol=1e-4)


def test_a_row_moved_to_another_slot_goes_on(reference: PreTrainedModel, folder: Path) -> None:
    network = load_network(folder)
    cache = KVCache(network.config, slots=4)
    ids, types = batch(rows=1, length=12)
    with torch.inference_mode():
        expected = reference(ids, token_type_ids=types).logits
        network.prefill(ids[0, :11], types[0, :11], cache, 3)
        cache.move(3, 0, 11)
        logits = network.decode(ids[:, 11], types[:, 11], torch.tensor([11]), 11, cache)
    torch.testing.assert_close(logits[0], expected[0, 11], atol=1e-4, rtol=1e-4)


def test_pickled_weights_are_read_as_tensors_only(reference: PreTrainedModel, folder: Path) -> None:
    ids, types = batch()
    with torch.inference_mode():
        expected = load_network(folder)(ids, types)
    (folder / "model.safetensors").unlink()
    torch.save(reference.state_dict(), folder / "pytorch_model.bin")
    with torch.inference_mode():
        torch.testing.assert_close(load_network(folder)(ids, types), expected)


def test_a_pickle_that_runs_code_is_refused(folder: Path, tmp_path: Path) -> None:
    marker = tmp_path / "ran"

    class Malicious:
        def __reduce__(self) -> tuple[object, tuple[object, ...]]:
            return Path.touch, (marker,)

    (folder / "model.safetensors").unlink()
    torch.save({"model": Malicious()}, folder / "pytorch_model.bin")
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_network(folder)
    assert not marker.exists()


def test_weights_that_do_not_fit_are_named(folder: Path) -> None:
    config = folder / "config.json"
    config.write_text(config.read_text().replace('"n_embd": 48', '"n_embd": 64'))
    with pytest.raises(CheckpointError, match=r"do not fit its config\.json"):
        load_network(folder)


def test_shipped_weights_agree_with_transformers() -> None:
    folder = Path(__file__).parents[2] / "resources" / "models" / "chitchat-tiny"
    reference = GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float32).eval()
    ids = torch.randint(4, 5000, (2, 60), generator=torch.Generator().manual_seed(1))
    types = torch.full_like(ids, 13086)
    with torch.inference_mode():
        torch.testing.assert_close(
            load_network(folder)(ids, types),
            reference(ids, token_type_ids=types).logits,
            atol=1e-4,
            rtol=1e-4,
        )
