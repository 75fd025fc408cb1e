"""Small random checkpoints of the kinds that people import, made by transformers itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    OpenAIGPTConfig,
    OpenAIGPTLMHeadModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

SIZES = {"vocab_size": 200, "n_positions": 64, "n_embd": 48, "n_layer": 2, "n_head": 4}
_KNOWN = "你好呀今天气怎么样？在吗的，了我有点累那早休息吧谢陪聊"
CHATML = (
    "{% for m in messages %}{% if loop.first and m.role != 'system' %}"
    "<|im_start|>system\nYou are helpful.<|im_end|>\n{% endif %}"
    "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
INST = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}"
    "{{ raise_exception('no system message') }}{% elif m.role == 'user' %}"
    "[INST] {{ m.content | trim }} [/INST]{% else %} {{ m.content }}{{ eos_token }}{% endif %}"
    "{% endfor %}"
)
_TEXTS = ["今天天气怎么样？", "你好，世界！", "Hello! How can I help you today?", "I am fine."]


def write_vocabulary(folder: Path, speakers: bool) -> None:
    """``vocab.txt`` of 200 tokens; CDial-GPT's has speakers at its end."""
    tokens = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", *dict.fromkeys(_KNOWN)]
    last = ["[speaker1]", "[speaker2]"] if speakers else []
    tokens += [chr(0x5000 + n) for n in range(SIZES["vocab_size"] - len(tokens) - len(last))]
    (folder / "vocab.txt").write_text("\n".join([*tokens, *last]) + "\n", encoding="utf-8")


def chitchat(
    folder: Path,
    kind: str,
    *,
    speakers: bool = True,
    pickled: bool = False,
    legacy: bool = False,
    bare_config: bool = False,
) -> Path:
    """CDial-GPT (``openai-gpt`` or ``gpt2``) or, without speakers, GPT2-chitchat.

    ``pickled``: pytorch_model.bin, in the format before torch 1.6 where ``legacy``;
    ``bare_config``: without model_type and architectures, as old releases wrote it.
    """
    folder.mkdir(parents=True)
    torch.manual_seed(2)
    model: Any = (
        OpenAIGPTLMHeadModel(OpenAIGPTConfig(**SIZES))
        if kind == "openai-gpt"
        else GPT2LMHeadModel(GPT2Config(**SIZES, eos_token_id=2, bos_token_id=0))
    )
    with torch.no_grad():  # the default init is so small that a wrong block would hardly show
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    model.save_pretrained(folder)
    write_vocabulary(folder, speakers)
    if pickled:
        (folder / "model.safetensors").unlink()
        torch.save(
            model.state_dict(),
            folder / "pytorch_model.bin",
            _use_new_zipfile_serialization=not legacy,
        )
    if bare_config:
        config = json.loads((folder / "config.json").read_text())
        kept = {k: v for k, v in config.items() if k not in ("model_type", "architectures")}
        (folder / "config.json").write_text(json.dumps(kept))
    return folder


def byte_level_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE with ChatML's control tokens, as Qwen has."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
    )
    bpe.train_from_iterator(_TEXTS * 20, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>")
    tokenizer.chat_template = CHATML
    return tokenizer


def sentencepiece_tokenizer() -> PreTrainedTokenizerFast:
    """BPE over visible spaces with a token a byte for the rest, as Llama 2 has."""
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    words = ["<unk>", "<s>", "</s>", *bytes_, "\u2581", *dict.fromkeys("".join(_TEXTS[2:]))]
    words = list(dict.fromkeys(words))
    merged = ["\u2581H", "\u2581a"]
    bpe = Tokenizer(
        models.BPE(
            vocab={word: i for i, word in enumerate([*words, *merged])},
            merges=[("\u2581", "H"), ("\u2581", "a")],
            unk_token="<unk>",
            byte_fallback=True,
            fuse_unk=True,
        )
    )
    bpe.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    bpe.decoder = decoders.Sequence(
        [
            decoders.Replace("\u2581", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    tokenizer.chat_template = INST
    return tokenizer


def causal(folder: Path, kind: str = "qwen2", *, eos: int | None = 0) -> Path:
    """A tiny ``qwen2`` or ``llama`` with a tokenizer, a chat template and a model card."""
    folder.mkdir(parents=True)
    tokenizer = byte_level_tokenizer() if kind == "qwen2" else sentencepiece_tokenizer()
    tokenizer.save_pretrained(folder)
    torch.manual_seed(3)
    sizes: dict[str, Any] = {
        "vocab_size": 448,  # more rows than tokens, as published models have
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 256,
        "eos_token_id": eos,
        "bos_token_id": None,
    }
    model: Any = (
        Qwen2ForCausalLM(Qwen2Config(**sizes))
        if kind == "qwen2"
        else LlamaForCausalLM(LlamaConfig(**sizes))
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    model.save_pretrained(folder)
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n# A tiny model\n")
    (folder / "LICENSE").write_text("Apache License\n")
    return folder
