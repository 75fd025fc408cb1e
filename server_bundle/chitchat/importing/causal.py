"""Imports any other causal language model of transformers that brings a chat template."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from server_bundle.chitchat import prompt_file
from server_bundle.chitchat.causal import free_memory, load_causal
from server_bundle.chitchat.folder import (
    CheckpointError,
    context_length,
    vocabulary_size,
)
from server_bundle.chitchat.importing import source
from server_bundle.chitchat.importing.chitchat import told_sampling
from server_bundle.chitchat.importing.source import Say
from server_bundle.chitchat.network import KVCache
from server_bundle.chitchat.prompt_file import PromptFile
from server_bundle.chitchat.template import TEMPLATE, TOKENIZER, TemplateLayout, read_stops

# Keys and values of a chat take memory for the whole context, so it is not longer unasked.
_CONTEXT = 4096
_REPLY = 512
_CHATS: list[list[str]] = [
    ["你好"],
    ["今天好累啊", "辛苦了，先歇一会儿吧。", "Any idea what I could cook tonight?"],
    ["Hi!", "Hello! How can I help?", "写一首关于 🌧️ 的诗", "好的。", "谢谢，再短一点"],
]
_TEXTS = ("你好，世界！🙂", "Don't  stop — it's 3.5 °C outside.", "a\n\n  b 中文 naïve")
_STEPS = 8
# Of the logits' range: in FP32, and where weights of two bytes are compared as they are.
_AGREES = {torch.float32: 1e-3, torch.bfloat16: 0.05, torch.float16: 0.02}


def convert(folder: Path, target: Path, config: dict[str, Any], say: Say) -> dict[str, Any]:
    """Write ``target``; what there is to tell of the model. Raises :class:`CheckpointError`."""
    files = source.weight_files(folder)
    say("reading the tokenizer")
    tokenizer = _tokenizer(folder, config)
    say("reading the weights")
    model = _model(folder, files)
    say("writing the weights")
    with _blamed("the weights cannot be written"):
        model.generation_config = GenerationConfig()  # prompt.toml says it; a foreign one may fail
        model.save_pretrained(target, max_shard_size="4GB")
        tokenizer.save_pretrained(target)
    _keep_only(target)
    (target / TEMPLATE).write_text(_template(tokenizer), encoding="utf-8")
    own = json.loads((target / "config.json").read_text(encoding="utf-8"))
    _write_prompt(target, folder, own, tokenizer)
    layout = TemplateLayout.from_folder(target)
    say("comparing the prompts with transformers")
    _check_prompts(layout, tokenizer)
    parameters = sum(p.numel() for p in model.parameters())
    say("comparing the replies with transformers")
    rows = [layout.encode(turns[:-1], turns[-1], 0).ids for turns in _CHATS]
    dtype = _dtype(model.dtype, parameters)
    bare = _bare(model.to(dtype), rows)
    kind = type(model).__name__
    del model  # there may be no room for two of them
    difference = _compare(target, layout, rows, bare, dtype)
    return {
        "architecture": kind,
        "parameters": parameters,
        "layout": "template",
        "difference": difference,
    }


@contextlib.contextmanager
def _blamed(what: str) -> Iterator[None]:
    """transformers' errors as one sentence."""
    try:
        yield
    except (CheckpointError, KeyboardInterrupt):
        raise
    except Exception as error:
        if getattr(error, "errno", None) is not None or "os error 28" in str(error):
            raise  # the disk's fault, not the model's
        if "trust_remote_code" in str(error):
            raise CheckpointError(
                "this model needs program code of its own, which is not run here"
            ) from None
        raise CheckpointError(f"{what}: {_short(error)}") from None


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:240] or type(error).__name__


def _tokenizer(folder: Path, config: dict[str, Any]) -> Any:
    with _blamed("the tokenizer cannot be read"):
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
    if not getattr(tokenizer, "is_fast", False):
        raise CheckpointError("the tokenizer has no tokenizer.json and cannot be converted to one")
    if not tokenizer.chat_template:
        raise CheckpointError(
            "the model has no chat template, so it was not made for chats (and it has no vocab.txt "
            "of CDial-GPT or GPT2-chitchat either)"
        )
    if len(tokenizer) > (rows := vocabulary_size(config)):
        raise CheckpointError(f"the tokenizer has {len(tokenizer):,} tokens, the weights {rows:,}")
    return tokenizer


def _template(tokenizer: Any) -> str:
    found = tokenizer.chat_template
    if isinstance(found, dict):
        found = found.get("default") or next(iter(found.values()))
    return str(found)


def _model(folder: Path, files: list[Path]) -> Any:
    for path in files:
        if path.suffix == ".bin":  # a pickle that wants to run code is told apart from damage
            source.read_tensors([path], lambda _: None)
        else:
            _check_header(path)
    with _blamed("transformers cannot load the weights"):
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype="auto",
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
        model, told = loaded
    if lacking := sorted(told.get("missing_keys") or []):
        raise CheckpointError(f"the weights lack {len(lacking)} tensors, such as {lacking[0]}")
    if wrong := sorted(map(str, told.get("mismatched_keys") or [])):
        raise CheckpointError(f"the weights do not fit config.json: {wrong[0][:120]}")
    return model.eval().requires_grad_(False)


def _check_header(path: Path) -> None:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            file.keys()
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"the file {path.name} is damaged or cut off: {error}") from None


def _keep_only(target: Path) -> None:
    """transformers may write files the server does not read; none of them stays."""
    kept = {"config.json", "generation_config.json", TOKENIZER, "tokenizer_config.json", TEMPLATE}
    for path in target.iterdir():
        if path.name not in kept and not path.name.startswith("model"):
            path.unlink()


def _write_prompt(target: Path, folder: Path, config: dict[str, Any], tokenizer: Any) -> None:
    if (folder / prompt_file.NAME).exists():
        text = (folder / prompt_file.NAME).read_text(encoding="utf-8")
        (target / prompt_file.NAME).write_text(text, encoding="utf-8")
        return
    size, limit = vocabulary_size(config), context_length(config)
    context = min(limit, _CONTEXT)
    stops = list(read_stops(folder))
    for found in (tokenizer.eos_token_id, _end_of_turn(tokenizer)):
        if found is not None and found not in stops:
            stops.append(found)
    stops = [stop for stop in stops if 0 <= stop < size]
    if not stops:
        raise CheckpointError("nothing tells which token ends a reply (eos_token_id)")
    sampling: dict[str, float | int] = {"temperature": 0.7, "top_p": 0.9}
    sampling["max_tokens"] = min(_REPLY, context // 2)
    sampling |= told_sampling(folder, size, context)
    sampling["max_tokens"] = min(sampling["max_tokens"], context // 2)
    file = PromptFile("template", context, 0, {}, tuple(stops), "", sampling)
    names = {stop: str(tokenizer.convert_ids_to_tokens(stop)) for stop in stops}
    text = prompt_file.text_of(file, limit, names)
    (target / prompt_file.NAME).write_text(text, encoding="utf-8")


def _end_of_turn(tokenizer: Any) -> int | None:
    """The control token with which the template ends what the model says."""
    mark = "Tritalk"
    chat = [{"role": "user", "content": "x"}, {"role": "assistant", "content": mark}]
    try:
        text = tokenizer.apply_chat_template(chat, tokenize=False)
    except Exception:  # a template may refuse; then eos_token_id has to do
        return None
    rest = str(text).rpartition(mark)[2]
    ids = tokenizer(rest, add_special_tokens=False)["input_ids"]
    return next((i for i in ids if i in set(tokenizer.all_special_ids)), None)


def _check_prompts(layout: TemplateLayout, tokenizer: Any) -> None:
    """Our prompts and our text must be transformers' own."""
    for turns in _CHATS:
        messages = [
            {"role": "assistant" if i % 2 else "user", "content": turn}
            for i, turn in enumerate(turns)
        ]
        with _blamed("the chat template fails"):
            expected = tokenizer.apply_chat_template(
                messages,
                tokenize=True,
                add_generation_prompt=True,
                return_dict=False,
                enable_thinking=False,
            )
        if layout.encode(turns[:-1], turns[-1], 0).ids != list(expected):
            raise CheckpointError("our prompt differs from the one that transformers makes")
    for text in _TEXTS:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        pieces = layout.pieces()
        ours = "".join(pieces.push(i) for i in ids)
        theirs = tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        if ours != theirs:
            raise CheckpointError(
                f"its tokens read {ours[:40]!r} here and {theirs[:40]!r} in transformers"
            )


def _dtype(own: torch.dtype, parameters: int) -> torch.dtype:
    """What to compare in: FP32 where there is room, else the weights' own."""
    if 4 * parameters <= free_memory() / 2:
        return torch.float32
    return own if own in _AGREES else torch.bfloat16


@torch.inference_mode()
def _bare(model: Any, rows: list[list[int]]) -> list[Tensor]:
    """transformers' own logits, FP32 ``[T + 8, vocab]`` a row, of each prompt with its last eight
    tokens once more behind it."""
    with _blamed("the model fails"):
        return [
            model(input_ids=torch.tensor([row + row[-_STEPS:]]), use_cache=False).logits[0].float()
            for row in rows
        ]


@torch.inference_mode()
def _compare(
    target: Path,
    layout: TemplateLayout,
    rows: list[list[int]],
    bare: list[Tensor],
    dtype: torch.dtype,
) -> float:
    """Largest difference between the engine's logits and the bare model's, of their range."""
    longer = [row + row[-_STEPS:] for row in rows]
    network = load_causal(target, layout.stops[:1], context=layout.context, dtype=dtype)
    cache = KVCache(network.config, len(rows), max(map(len, longer)), dtype=dtype)
    worst = 0.0
    with _blamed("the model cannot be batched"):
        for slot, row in enumerate(rows):
            got = network.prefill(torch.tensor(row), None, cache, slot)
            worst = max(worst, float((got - bare[slot][len(row) - 1]).abs().max()))
        for step in range(_STEPS):
            places = torch.tensor([len(row) + step for row in rows])
            ids = torch.tensor([full[int(p)] for full, p in zip(longer, places, strict=True)])
            got = network.decode(ids, None, places, int(places.max()), cache)
            for i, place in enumerate(places.tolist()):
                worst = max(worst, float((got[i] - bare[i][place]).abs().max()))
    reach = max(float(each.max() - each.min()) for each in bare)
    difference = worst / max(reach, 1e-6)
    if not difference <= _AGREES[dtype]:
        raise CheckpointError(
            f"the engine's logits differ from transformers' by {difference:.2%} of their range, so "
            "this kind of model is not served"
        )
    return difference
