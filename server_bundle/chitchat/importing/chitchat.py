"""Imports CDial-GPT and GPT2-chitchat checkpoints: the layouts our own network runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from server_bundle.chitchat import prompt_file
from server_bundle.chitchat.checkpoint import load_network
from server_bundle.chitchat.folder import CheckpointError, context_length
from server_bundle.chitchat.importing import source
from server_bundle.chitchat.importing.source import Say
from server_bundle.chitchat.network import KVCache
from server_bundle.chitchat.parameters import (
    InvalidParameter,
    SamplingParameters,
    generation_values,
    parse,
)
from server_bundle.chitchat.prompt import PromptLayout, read_vocabulary, special_ids
from server_bundle.chitchat.prompt_file import PromptFile

# Interactive defaults of the two projects: turns, longest reply in tokens.
_CUSTOM = {"speakers": (5, 30), "separator": (3, 25)}
_DEFAULTS: dict[str, float | int] = {"temperature": 0.7, "top_p": 0.9, "no_repeat_ngram_size": 4}
_CHATS: list[tuple[list[str], str]] = [
    ([], "你好"),
    (["你好", "你好呀"], "今天天气怎么样？"),
    (["在吗", "在的，怎么了", "我今天有点累", "那早点休息吧"], "好的，谢谢你陪我聊天"),
]
# Of the logits' range; both compute in FP32.
_AGREES = 1e-3


def is_chitchat(folder: Path, config: dict[str, Any]) -> bool:
    """Whether the folder has a vocabulary of characters for one of our two layouts."""
    named = str(config.get("model_type") or config.get("architectures", ""))
    if named not in ("gpt2", "openai-gpt") and not any(
        known in named for known in ("GPT2LMHead", "OpenAIGPT")
    ):
        named = ""
    if not named and config.get("model_type"):
        return False
    try:
        special_ids(folder, read_vocabulary(folder))
    except CheckpointError:
        return False
    return True


def convert(folder: Path, target: Path, config: dict[str, Any], say: Say) -> dict[str, Any]:
    """Write ``target``; what there is to tell of the model. Raises :class:`CheckpointError`."""
    raw = source.read_tensors(source.weight_files(folder), say)
    kind, state = _canonical(raw)
    config = _mended(config, kind, state)
    tokens = read_vocabulary(folder)
    if len(tokens) > config["vocab_size"]:
        raise CheckpointError(
            f"vocab.txt has {len(tokens):,} tokens, the weights {config['vocab_size']:,} rows"
        )
    say("writing the weights")
    save_file(state, target / "model.safetensors", metadata={"format": "pt"})
    (target / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    shutil.copyfile(folder / "vocab.txt", target / "vocab.txt")
    if (folder / prompt_file.NAME).exists():
        shutil.copyfile(folder / prompt_file.NAME, target / prompt_file.NAME)
        prompt_file.read(target, config["vocab_size"], context_length(config))
    else:
        _write_prompt(target, folder, config, tokens)
    layout = PromptLayout.from_folder(target)
    say("comparing with transformers")
    difference = check(target, layout, kind)
    return {
        "architecture": config["architectures"][0],
        "parameters": source.count(state),
        "layout": "speakers" if layout.speakers else "separator",
        "difference": difference,
    }


def _canonical(raw: dict[str, Tensor]) -> tuple[str, dict[str, Tensor]]:
    """``gpt2`` or ``openai-gpt``, and the tensors as transformers names them."""
    named = {f"transformer.{n.removeprefix('transformer.')}": t for n, t in raw.items()}
    if "transformer.tokens_embed.weight" in named:
        kind, table = "openai-gpt", "transformer.tokens_embed.weight"
    elif "transformer.wte.weight" in named:
        kind, table = "gpt2", "transformer.wte.weight"
    else:
        raise CheckpointError("the weights are neither GPT-2's nor OpenAI-GPT's")
    state = {}
    for name, tensor in named.items():
        if "lm_head" in name:
            same = tensor.shape == named[table].shape and torch.equal(tensor, named[table])
            if not same:
                raise CheckpointError(
                    "the output projection (lm_head) differs from the token embeddings, which "
                    "this server takes to be the same"
                )
            continue
        if name.endswith((".attn.bias", ".attn.masked_bias", ".position_ids")):
            continue  # constants that older releases saved along
        if not tensor.is_floating_point() or not bool(torch.isfinite(tensor).all()):
            raise CheckpointError(f"the tensor {name} holds something that is no number")
        state[name] = tensor.clone().contiguous()
    return kind, state


def _mended(config: dict[str, Any], kind: str, state: dict[str, Tensor]) -> dict[str, Any]:
    """The configuration with what old releases left out, and sizes as the weights have them."""
    names = ("tokens_embed", "positions_embed") if kind == "openai-gpt" else ("wte", "wpe")
    tables = [state.get(f"transformer.{name}.weight") for name in names]
    if any(table is None or table.ndim != 2 for table in tables):
        raise CheckpointError("the weights lack the tables of tokens and positions")
    rows, positions = (int(table.shape[0]) for table in tables if table is not None)
    layers = {name.split(".")[2] for name in state if name.startswith("transformer.h.")}
    told = config.get("n_layer")
    if told is not None and told != len(layers):
        raise CheckpointError(f"config.json tells {told} layers, the weights have {len(layers)}")
    if config.get("n_embd", 0) != (width := int(tables[0].shape[1])):  # type: ignore[union-attr]
        raise CheckpointError(
            f"config.json tells a width of {config.get('n_embd')}, the weights have {width}"
        )
    classes = {"openai-gpt": "OpenAIGPTLMHeadModel", "gpt2": "GPT2LMHeadModel"}
    dropped = {"auto_map", "_name_or_path", "torchscript", "n_ctx", "torch_dtype"}
    return {
        **{name: value for name, value in config.items() if name not in dropped},
        "model_type": kind,
        "architectures": [classes[kind]],
        "vocab_size": rows,
        "n_positions": positions,
        "n_layer": len(layers),
        "dtype": str(next(iter(state.values())).dtype).removeprefix("torch."),
    }


def _write_prompt(
    target: Path, folder: Path, config: dict[str, Any], tokens: tuple[str, ...]
) -> None:
    ids = special_ids(target, tokens)
    layout = "speakers" if "user" in ids else "separator"
    turns, longest = _CUSTOM[layout]
    context = context_length(config)
    sampling = {**_DEFAULTS, "max_tokens": min(longest, context // 2)}
    sampling |= told_sampling(folder, config["vocab_size"], context)
    found = PromptFile(layout, context, turns, ids, sampling=sampling)
    text = prompt_file.text_of(found, context, dict(enumerate(tokens)))
    (target / prompt_file.NAME).write_text(text, encoding="utf-8")


def told_sampling(folder: Path, vocabulary: int, context: int) -> dict[str, float | int]:
    """What ``generation_config.json`` asks for, without what no request may ask for."""
    try:
        data = json.loads((folder / "generation_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    kept: dict[str, float | int] = {}
    for name, value in generation_values(data).items():
        try:
            checked = parse(
                {name: value}, SamplingParameters(), vocab_size=vocabulary, context=context
            )
        except InvalidParameter:
            continue
        kept[name] = getattr(checked, name)
    return kept


@torch.inference_mode()
def check(folder: Path, layout: PromptLayout, kind: str) -> float:
    """Largest difference between our logits and transformers', of the range of the logits, over a
    few chats, read at once and continued step by step in one batch.

    Raises:
        CheckpointError: they do not agree.
    """
    from transformers import GPT2LMHeadModel, OpenAIGPTLMHeadModel

    cls = GPT2LMHeadModel if kind == "gpt2" else OpenAIGPTLMHeadModel
    try:
        theirs = cls.from_pretrained(folder, dtype=torch.float32, local_files_only=True).eval()
    except Exception as error:
        words = " ".join(str(error).split())[:200]
        raise CheckpointError(f"transformers cannot load the weights: {words}") from None
    ours = load_network(folder)
    cache = KVCache(ours.config, len(_CHATS))
    rows: list[tuple[list[int], list[int] | None]] = []
    worst, low, high = 0.0, 0.0, 0.0

    def compare(got: Tensor, ids: list[int], types: list[int] | None) -> int:
        nonlocal worst, low, high
        expected = theirs(
            input_ids=torch.tensor([ids]),
            token_type_ids=None if types is None else torch.tensor([types]),
        ).logits[0, -1]
        worst = max(worst, float((got - expected).abs().max()))
        low, high = min(low, float(expected.min())), max(high, float(expected.max()))
        return int(expected.argmax())

    replies: list[int] = []
    for slot, (history, text) in enumerate(_CHATS):
        prompt = layout.encode(history, text, 16)
        types = None if prompt.types is None else torch.tensor(prompt.types)
        logits = ours.prefill(torch.tensor(prompt.ids), types, cache, slot)
        rows.append((list(prompt.ids), prompt.types))
        replies.append(compare(logits, *rows[-1]))
    bot = layout.speakers[1] if layout.speakers else 0
    for _ in range(3):
        positions = torch.tensor([len(ids) for ids, _ in rows])
        for (ids, marks), token in zip(rows, replies, strict=True):
            ids.append(token)
            if marks is not None:
                marks.append(bot)
        logits = ours.decode(
            torch.tensor(replies),
            torch.tensor([bot] * len(rows)) if layout.speakers else None,
            positions,
            int(positions.max()),
            cache,
        )
        replies = [compare(got, *row) for got, row in zip(logits, rows, strict=True)]
    difference = worst / max(high - low, 1e-6)
    if not difference <= _AGREES:
        raise CheckpointError(
            f"our logits differ from transformers' by {difference:.2%} of their range, so the "
            "weights were not understood"
        )
    return difference
