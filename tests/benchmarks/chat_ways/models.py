"""What is compared: folders of weights, and a repository that serves them both ways."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel

from server_bundle.chitchat.checkpoint import load_network
from server_bundle.chitchat.network import ChitchatNetwork
from server_bundle.repository import SOURCE
from tests.support.chat import MODEL

HERE = Path(__file__).parent
_REPLACED = ("config.json", "generation_config.json", "model.safetensors")
_OURS = ("ibuddha_chitchat", "ibuddha_chitchat_bls", "ibuddha_chitchat_stream")


def random_model(folder: Path) -> Path:
    """A GPT-2 of CDial-GPT's shape (95.5 M parameters, 12 layers x 768) with random weights, and
    the shipped vocabulary."""
    folder.mkdir(parents=True)
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=13088, n_positions=512, n_embd=768, n_layer=12, n_head=12)
    model = GPT2LMHeadModel(config)
    config.save_pretrained(folder)
    save_file(
        {k: v.contiguous() for k, v in model.state_dict().items() if k != "lm_head.weight"},
        folder / "model.safetensors",
    )
    for path in MODEL.iterdir():
        if path.is_file() and path.name not in _REPLACED:
            shutil.copy(path, folder / path.name)
    return folder


class _LastLogits(nn.Module):
    """``forward(ids, mask, types)``, all INT64 ``[B, T]`` → FP32 ``[B, V]``, without a cache."""

    def __init__(self, network: ChitchatNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        return self.network(ids, types)[:, -1].contiguous()


def repository(target: Path, chat_model: Path, *, threads: int, precision: str = "") -> Path:
    """A model repository to serve ``chat_model`` from: ours, and the original application's where
    ``precision`` is not given (it knew FP32 only)."""
    for name in _OURS:
        shutil.copytree(SOURCE / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        file = target / name / "config.pbtxt"
        config = file.read_text(encoding="utf-8")
        config = config.replace("@CHAT_MODEL@", str(chat_model))
        config = config.replace("@PRECISION@", precision or "float32")
        file.write_text(config, encoding="utf-8")
    if precision:
        return target
    network = load_network(chat_model)
    for name in ("seed_chitchat", "seed_chitchat_bls"):
        shutil.copytree(HERE / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    file = target / "seed_chitchat" / "config.pbtxt"
    config = file.read_text(encoding="utf-8").replace("@THREADS@", str(threads))
    config = config.replace("@VOCAB_SIZE@", str(network.config.vocab_size))
    file.write_text(config, encoding="utf-8")
    (target / "seed_chitchat" / "1").mkdir()
    example = torch.randint(3, 99, (3, 2, 9))
    with torch.inference_mode():
        traced = torch.jit.trace(_LastLogits(network), tuple(example))
    traced.save(str(target / "seed_chitchat" / "1" / "model.pt"))
    return target
