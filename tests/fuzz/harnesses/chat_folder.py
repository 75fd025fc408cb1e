"""Folders of chat models: config.json, vocab.txt, generation_config.json, prompt.toml, an index."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from functools import lru_cache

import torch
from safetensors.torch import save_file

from desktop import memory
from server_bundle.chitchat import opening, prompt_file
from server_bundle.chitchat.checkpoint import load_network
from server_bundle.chitchat.folder import CheckpointError, read_json
from server_bundle.chitchat.importing import chitchat, source
from server_bundle.chitchat.network import ChitchatNetwork, NetworkConfig
from server_bundle.chitchat.prompt import PromptLayout
from server_bundle.chitchat.template import read_stops
from tests.fuzz.harness import allowed, folder, json_or_deep, laid_out

NAMES = (
    "config.json", "vocab.txt", "generation_config.json", "prompt.toml",
    "model.safetensors.index.json", "tokenizer_config.json",
)  # fmt: skip
SIZES = {
    "vocab_size": 12, "n_positions": 40, "n_embd": 8, "n_layer": 1, "n_head": 2, "n_inner": 16,
}  # fmt: skip
_WORDS = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", *"你好吗在", "##a", "é", "[speaker1]", "[speaker2]"]


@lru_cache(maxsize=1)
def good() -> dict[str, bytes]:
    config = NetworkConfig(**SIZES, layer_norm_epsilon=1e-5, post_norm=False)
    names = {"qkv": "attn.c_attn", "attn_out": "attn.c_proj", "mlp_in": "mlp.c_fc"}
    names |= {"mlp_out": "mlp.c_proj", "blocks": "h"}
    state = {}
    for name, tensor in ChitchatNetwork(config).state_dict().items():
        parts = [names.get(part, part) for part in name.split(".")]
        turned = "attn" in name or "mlp" in name or "qkv" in name
        state[".".join(parts)] = (tensor.T if turned and tensor.ndim == 2 else tensor).contiguous()
    file = folder() / "good.safetensors"
    save_file({name: torch.zeros_like(tensor) for name, tensor in state.items()}, file)
    told = {"model_type": "gpt2", **SIZES, "architectures": ["GPT2LMHeadModel"], "eos_token_id": 2}
    return {
        "model.safetensors": file.read_bytes(),
        "config.json": json.dumps(told).encode(),
        "vocab.txt": "\n".join(_WORDS).encode(),
        "generation_config.json": b'{"temperature": 0.7, "max_new_tokens": 20, "top_k": 5}',
    }


def seeds() -> Iterable[bytes]:
    files = good()
    yield b"\x00" + files["config.json"]
    openai = {**json.loads(files["config.json"]), "model_type": "openai-gpt", "afn": "gelu"}
    yield b"\x00" + json.dumps(openai).encode()
    yield b"\x01" + files["vocab.txt"]
    yield b"\x02" + files["generation_config.json"]
    yield b'\x03layout = "separator"\n[vocabulary]\nstart = 0\nend = 2\npad = 1\nunknown = 3\n'
    index = {"metadata": {}, "weight_map": {"wte.weight": "model.safetensors"}}
    yield b"\x04" + json.dumps(index).encode()
    yield b'\x05{"bos_token": {"content": "<s>"}, "eos_token": "</s>"}'


def mutate(data: bytes, chance: random.Random) -> bytes:
    return data[:1] + json_or_deep(data[1:], chance)


def one(data: bytes) -> None:
    """The first byte: which file of a sound folder the rest replaces."""
    where = laid_out("model", good())
    (where / NAMES[(data[0] if data else 0) % len(NAMES)]).write_bytes(data[1:])
    assert memory.chat_need(where) >= 0
    assert all(isinstance(value, str) for value in prompt_file.served_limits(where).values())
    assert all(isinstance(stop, int) for stop in read_stops(where))
    chitchat.told_sampling(where, 12, 40)
    with allowed(CheckpointError):
        config = source.read_config(where)
        source.weight_files(where)
        chitchat.is_chitchat(where, config)
    with allowed(CheckpointError):
        layout = opening.open_layout(where)
        assert isinstance(layout, PromptLayout)
        assert layout.context >= 1
        assert layout.vocabulary.size >= len(layout.tokens)
        for words in ("你好", "é a"):
            assert all(0 <= token < layout.vocabulary.size for token in layout.encode_text(words))
    with allowed(CheckpointError):
        read_json(where / "config.json")
        network = load_network(where)
        assert network.config.n_embd == SIZES["n_embd"]
    with allowed(CheckpointError):
        vocabulary, context = 12, 40
        file = prompt_file.read(where, vocabulary, context)
        defaults = prompt_file.sampling_defaults(where, file)
        assert 0 <= defaults.temperature <= 2
        assert defaults.max_tokens >= 1
