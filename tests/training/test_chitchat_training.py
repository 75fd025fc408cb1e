"""Chat training on a toy corpus: it learns, resumes, exports and is served."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional

from server_bundle.chitchat.checkpoint import load_network
from server_bundle.chitchat.network import ChitchatNetwork, NetworkConfig
from server_bundle.chitchat.parameters import SamplingParameters
from server_bundle.training.chitchat.__main__ import STARTER, main
from server_bundle.training.chitchat.exclude import Exclusion
from server_bundle.training.chitchat.export import check_folder, to_transformers
from server_bundle.training.chitchat.forward import hidden_states, window_loss
from server_bundle.training.chitchat.optimizer import orthogonalise
from server_bundle.training.chitchat.replies import replies
from server_bundle.training.chitchat.train import Settings, Trainer, read_corpus

TOY = """U: 下雨了
B: 记得带伞。

U: 饿了
B: 去吃碗面吧。

U: 困了
B: 早点睡。

U: 猫丢了
B: 别急，去楼下找找猫。
U: 找到了
B: 太好了，抱抱猫。
"""


def _settings(folder: Path, out: str, **changes: object) -> Settings:
    toy = folder / "toy.txt"
    toy.write_text(TOY, encoding="utf-8")
    values: dict[str, object] = {
        "out": folder / out,
        "pattern": STARTER,
        "start": None,
        "exchanges": (toy,),
        "steps": 50,
        "tokens": 128,
        "held_out": 0.0,
        "dropout": 0.1,
        "muon_rate": 0.02,
        "adam_rate": 0.01,
        "warmup": 5,
        "layers": 2,
        "width": 32,
        "heads": 2,
    }
    return Settings(**{**values, **changes})  # type: ignore[arg-type]


def _trainer(settings: Settings) -> Trainer:
    exclusion = Exclusion([])
    return Trainer(settings, read_corpus(settings, exclusion), exclusion)


def _loss(trainer: Trainer) -> float:
    from server_bundle.training.chitchat.evaluate import perplexity
    from server_bundle.training.chitchat.windows import encode_window

    windows = [encode_window(trainer.layout, d.turns) for d in trainer.corpus.train["exchanges"]]
    return perplexity(trainer.network, trainer.rows, windows)


def test_fifty_steps_learn_the_toy_corpus_and_the_folder_answers(tmp_path: Path) -> None:
    trainer = _trainer(_settings(tmp_path, "run", dropout=0.0))
    before = _loss(trainer)
    trainer.run()
    assert _loss(trainer) < before / 10
    folder = tmp_path / "model"
    trainer.export(folder)
    difference = check_folder(folder)
    assert difference is None or difference < 1e-4
    greedy = SamplingParameters(temperature=0.0, max_tokens=20, logprobs=0)
    assert replies(folder, [["下雨了"], ["困了"]], greedy) == ["记得带伞。", "早点睡。"]
    names = {p.name for p in folder.iterdir()}
    assert {"config.json", "vocab.txt", "tokenizer_config.json", "model.safetensors"} <= names
    assert "MODEL_CARD.md" not in names  # it describes other weights
    tensors = load_file(folder / "model.safetensors")
    assert {t.dtype for t in tensors.values()} == {torch.float16}
    assert set(tensors) >= {"transformer.wte.weight", "transformer.h.1.attn.c_attn.weight"}


def test_a_resumed_run_ends_with_the_weights_of_an_uninterrupted_one(tmp_path: Path) -> None:
    whole = _trainer(_settings(tmp_path, "whole", steps=20))
    whole.run()
    stopped = _trainer(_settings(tmp_path, "parts", steps=20))
    draw = stopped.mixture.draw

    def draw_until_the_ninth(tokens: int) -> list:  # as if Ctrl-C came during the ninth step
        if stopped.step == 8:
            stopped._ask_to_stop()
        return draw(tokens)

    stopped.mixture.draw = draw_until_the_ninth  # type: ignore[method-assign]
    stopped.run()
    assert stopped.step == 9
    resumed = _trainer(_settings(tmp_path, "parts", steps=20))
    assert resumed.step == 9
    resumed.run()
    for name, tensor in whole.network.state_dict().items():
        assert torch.equal(tensor, resumed.network.state_dict()[name]), name


@pytest.mark.parametrize("last", [False, True])
def test_the_least_perplexed_or_the_last_weights_are_exported(tmp_path: Path, last: bool) -> None:
    trainer = _trainer(_settings(tmp_path, "run", steps=3, last=last))
    trainer.run()
    kept = {name: torch.zeros_like(value) for name, value in trainer.network.state_dict().items()}
    trainer.best["network"] = kept
    trainer.export(tmp_path / "model")
    weights = load_file(tmp_path / "model" / "model.safetensors")["transformer.ln_f.weight"]
    expected = trainer.network.ln_f.weight.detach() if last else kept["ln_f.weight"]
    torch.testing.assert_close(weights.float(), expected, atol=1e-2, rtol=1e-2)


def test_two_processes_train_as_one_does(tmp_path: Path) -> None:
    one = _trainer(_settings(tmp_path, "one", steps=4, dropout=0.0, tokens=3000))
    two = _trainer(_settings(tmp_path, "two", steps=4, dropout=0.0, tokens=3000, processes=2))
    one.run()
    two.run()
    for name, tensor in one.network.state_dict().items():
        other = two.network.state_dict()[name]
        # Muon rounds to bfloat16; the two add up the same gradients in another order
        assert (tensor - other).norm() <= 0.02 * tensor.norm() + 1e-4, name


def test_a_checkpoint_of_other_dialogues_is_refused_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _trainer(_settings(tmp_path, "run", steps=1)).run()
    before = (tmp_path / "run" / "trainer.pt").read_bytes()
    other = tmp_path / "other.txt"
    other.write_text("U: 龘\nB: 龘龘\n", encoding="utf-8")
    arguments = ["--exchanges", str(other), "--held-out", "0", "--steps", "2", "--from", "scratch"]
    small = ["--layers", "2", "--width", "32", "--heads", "2"]
    assert main([str(tmp_path / "run"), *arguments, *small]) == 1
    assert "choose an empty folder" in capsys.readouterr().err
    assert (tmp_path / "run" / "trainer.pt").read_bytes() == before


def test_the_command_fine_tunes_a_model_on_own_dialogues(tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text(TOY, encoding="utf-8")
    out = tmp_path / "run"
    arguments = ["--exchanges", str(mine), "--steps", "6", "--tokens", "256", "--held-out", "0.3"]
    assert main([str(out), *arguments, "--processes", "1"]) == 0
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert report["steps"] == 6
    assert report["dialogues"]["exchanges"] + report["held out"]["exchanges"] == 4
    # characters the dialogues do not have keep their rows beside the trained ones
    start, end = (load_network(f).wte.weight for f in (STARTER, out / "model"))
    assert start.shape == end.shape
    assert not torch.equal(start, end)
    assert replies(out / "model", [["你好"]])[0]


@pytest.mark.parametrize("speakers", [True, False], ids=["cdial", "gpt2-chitchat"])
def test_imported_models_of_either_layout_are_fine_tuned(tmp_path: Path, speakers: bool) -> None:
    import transformers

    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(c for c in TOY if c > "~")]
    if speakers:
        tokens += ["[speaker1]", "[speaker2]"]
    start = tmp_path / "start"
    torch.manual_seed(2)
    sizes = {"vocab_size": len(tokens), "n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 96}
    if speakers:
        config = transformers.OpenAIGPTConfig(**sizes)
        transformers.OpenAIGPTLMHeadModel(config).save_pretrained(start)
    else:
        transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes)).save_pretrained(start)
    (start / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    trainer = _trainer(_settings(tmp_path, "run", start=start, steps=80, dropout=0.0))
    before = _loss(trainer)
    trainer.run()
    assert _loss(trainer) < before / 4
    trainer.export(tmp_path / "model")
    difference = check_folder(tmp_path / "model", "下雨了")
    assert difference is not None
    assert difference < 1e-4
    greedy = SamplingParameters(temperature=0.0, max_tokens=20, logprobs=0)
    assert replies(tmp_path / "model", [["困了"]], greedy) == ["早点睡。"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--exchanges", "/nowhere.txt"], "/nowhere.txt"),
        (["--from", "/nowhere"], "/nowhere"),
        (["--dialogues", "/nowhere.jsonl.gz"], "/nowhere.jsonl.gz"),
    ],
)
def test_bad_input_gets_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main([str(tmp_path / "run"), "--steps", "1", *arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1


def _network(post_norm: bool) -> ChitchatNetwork:
    torch.manual_seed(0)
    return ChitchatNetwork(NetworkConfig(40, 64, 16, 2, 2, 64, 1e-5, post_norm))


@pytest.mark.parametrize("post_norm", [False, True])
def test_the_training_pass_computes_what_the_engine_does(post_norm: bool) -> None:
    network = _network(post_norm)
    ids, types = torch.randint(40, (3, 20)), torch.randint(40, (3, 20))
    ours = functional.linear(hidden_states(network, ids, types), network.wte.weight)
    torch.testing.assert_close(ours, network(ids, types), atol=1e-4, rtol=1e-4)


def test_the_loss_is_cross_entropy_and_so_are_its_gradients() -> None:
    network = _network(False)
    ids, types, targets = (torch.randint(40, (4, 30)) for _ in range(3))
    weights = torch.rand(4, 30) * (torch.rand(4, 30) > 0.5)

    def gradients(loss: torch.Tensor) -> list[torch.Tensor]:
        return list(torch.autograd.grad(loss, list(network.parameters())))

    fused = window_loss(network, ids, types, targets, weights, pad_row=1, pad_shift=2.5)
    logits = network(ids, types) + 2.5 * functional.one_hot(torch.tensor(1), 40)
    plain = (functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
             * weights.flatten()).sum()  # fmt: skip
    torch.testing.assert_close(fused, plain)
    for got, expected in zip(gradients(fused), gradients(plain), strict=True):
        torch.testing.assert_close(got, expected, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("shape", [(32, 96), (96, 32), (48, 48)])
def test_muon_steps_have_singular_values_near_one(shape: tuple[int, int]) -> None:
    torch.manual_seed(1)
    values = torch.linalg.svdvals(orthogonalise(torch.randn(shape), 5))
    assert values.max() < 1.35
    assert values.median() > 0.6


@pytest.mark.parametrize("post_norm", [False, True])
def test_exported_names_and_layouts_read_back(tmp_path: Path, post_norm: bool) -> None:
    network = _network(post_norm)
    kind = "openai-gpt" if post_norm else "gpt2"
    config = {
        "model_type": kind, "vocab_size": 40, "n_positions": 64, "n_embd": 16, "n_layer": 2,
        "n_head": 2, "afn": "gelu_new",
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    save_file(to_transformers(network.state_dict(), post_norm), tmp_path / "model.safetensors")
    again = load_network(tmp_path)
    for name, tensor in network.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], tensor, atol=2e-3, rtol=2e-3)
