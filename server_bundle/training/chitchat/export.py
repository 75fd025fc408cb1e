"""Writes trained weights as a folder that the chat model serves, and checks it."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from server_bundle.chitchat.checkpoint import load_network
from server_bundle.chitchat.folder import read_json
from server_bundle.chitchat.prompt import PromptLayout

_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".h5", ".msgpack", ".onnx")
_STALE = ("modelcard", "model_card", "readme", "report")
_LARGEST = 8 << 20  # bytes of a file that is copied along


def to_transformers(state: dict[str, Tensor], post_norm: bool) -> dict[str, Tensor]:
    """Our tensor names and layouts → those of transformers' GPT-2 or OpenAI-GPT, in FP16."""
    blocks = {
        "qkv": "attn.c_attn",
        "attn_out": "attn.c_proj",
        "mlp_in": "mlp.c_fc",
        "mlp_out": "mlp.c_proj",
    }
    embeddings = {
        "wte": "tokens_embed" if post_norm else "wte",
        "wpe": "positions_embed" if post_norm else "wpe",
    }
    raw: dict[str, Tensor] = {}
    for name, value in state.items():
        parts = name.split(".")
        tensor = value.detach()
        if parts[0] == "blocks":
            layer, module, kind = parts[1:]
            if module in blocks and kind == "weight":
                tensor = tensor.T
            target = f"h.{layer}.{blocks.get(module, module)}.{kind}"
        else:
            target = f"{embeddings.get(parts[0], parts[0])}.{parts[1]}"
        raw[f"transformer.{target}"] = tensor.to(torch.float16).contiguous()
    return raw


def write_folder(
    folder: Path, start: Path, state: dict[str, Tensor], config: dict[str, object], post_norm: bool
) -> None:
    """Write a model folder.

    Args:
        folder: where; files in it are replaced.
        start: a model folder whose vocabulary, tokenizer and other small files are copied.
        state: FP32 tensors of a :class:`ChitchatNetwork` with the whole table.
        config: the contents of ``config.json``.
    """
    import json

    folder.mkdir(parents=True, exist_ok=True)
    for file in start.iterdir():
        stale = file.name.lower().startswith(_STALE) or file.suffix in _WEIGHTS
        if file.is_file() and not stale and file.stat().st_size <= _LARGEST:
            shutil.copyfile(file, folder / file.name)
    text = json.dumps({**config, "dtype": "float16"}, indent=2, ensure_ascii=False)
    (folder / "config.json").write_text(text + "\n", encoding="utf-8")
    part = folder / "model.safetensors.part"
    save_file(to_transformers(state, post_norm), part, metadata={"format": "pt"})
    part.chmod(0o644)  # written for its owner only, but a server may run as somebody else
    part.replace(folder / "model.safetensors")


def check_folder(folder: Path, text: str = "你好") -> float | None:
    """Largest difference between our logits and transformers', relative to their range.

    None when transformers is not installed.

    Raises:
        CheckpointError: our engine cannot load the folder.
    """
    network = load_network(folder)
    prompt = PromptLayout.from_folder(folder).encode([], text, 16)
    ids = torch.tensor([prompt.ids])
    types = None if prompt.types is None else torch.tensor([prompt.types])
    with torch.inference_mode():
        ours = network(ids, types)
    try:
        import transformers
    except ImportError:
        return None
    kind = read_json(folder / "config.json")["model_type"]
    cls = transformers.GPT2LMHeadModel if kind == "gpt2" else transformers.OpenAIGPTLMHeadModel
    model = cls.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.inference_mode():
        theirs = model(input_ids=ids, token_type_ids=types).logits
    return float((ours - theirs).abs().max() / (theirs.max() - theirs.min()))
