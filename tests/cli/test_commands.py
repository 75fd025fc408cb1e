"""The command line as a person or a script uses it: real processes, the real server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.triton

TRITALK = [sys.executable, "-m", "desktop"]
ADDRESS = "浙江省杭州市余杭区五常街道文一西路969号3幢5楼"


def tritalk(
    *arguments: str | bytes, stdin: str | bytes = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    data = stdin.encode() if isinstance(stdin, str) else stdin
    command: Sequence[str | bytes] = [*TRITALK, *arguments]
    return subprocess.run(
        command,
        input=data,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )


def lines(output: bytes) -> list[Any]:
    return [json.loads(line) for line in output.decode().splitlines()]


def test_a_reply_as_json(server: Any) -> None:
    done = tritalk("chat", "你好", "--json", "--seed", "1", "--max-tokens", "8")
    assert done.returncode == 0, done.stderr
    *tokens, finished = lines(done.stdout)
    assert len(tokens) == 8
    for token in tokens:
        assert set(token) == {"text", "token_id", "confidence", "probability", "alternatives"}
        assert len(token["alternatives"]) >= 5
        for alternative in token["alternatives"]:
            assert set(alternative) == {"text", "token_id", "probability"}
        assert token["token_id"] in [a["token_id"] for a in token["alternatives"]]
    assert finished["finish_reason"] == "length"
    assert finished["reply"] == "".join(t["text"] for t in tokens)
    assert finished["tokens"] == 8
    assert finished["seconds_to_first_token"] > 0
    # A first reply may be waited for so long that eight tokens tell nothing of the rate.
    assert finished["tokens_per_second"] is None or finished["tokens_per_second"] > 0


def test_tokens_are_printed_as_they_arrive(server: Any) -> None:
    with subprocess.Popen(
        [*TRITALK, "chat", "给我讲个故事吧", "--json", "--temperature", "2", "--max-tokens", "480"],
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert "text" in json.loads(process.stdout.readline())
        assert process.poll() is None  # the reply goes on
        process.send_signal(signal.SIGINT)
        *tokens, finished = lines(process.stdout.read())
        assert process.wait(timeout=30) == 130
    assert finished["finish_reason"] == "cancelled"
    assert finished["tokens"] == len(tokens) + 1 < 480


@pytest.mark.parametrize("count", ["-3", "x", "1.5"])
def test_a_number_of_lines_is_one(count: str) -> None:
    done = tritalk("server", "logs", "-n", count)
    assert done.returncode == 2
    assert b"is no number of lines" in done.stderr


def test_a_conversation_remembers_what_was_said(server: Any) -> None:
    options = ["--json", "--temperature", "0", "--max-tokens", "12"]
    done = tritalk("chat", *options, stdin="你好\n\n今天好累啊\n")
    assert done.returncode == 0, done.stderr
    ends = [x for x in lines(done.stdout) if "finish_reason" in x]
    assert len(ends) == 2
    first, second = ends
    history = len("你好") + len(first["reply"]) + 2
    assert second["num_input_tokens"] == 1 + history + len("今天好累啊") + 2


def test_a_reply_for_people(server: Any) -> None:
    done = tritalk("chat", "你好", "--seed", "1", LANG="C", LC_ALL="C", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    text, figures = done.stdout.decode().splitlines()
    assert text.startswith("你好")
    assert "tokens/s, stop)" in figures


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["chat", ""], "the message is empty; write something first"),
        (["chat", " \n"], "the message is empty; write something first"),
        (["chat", "好" * 10_000], "10,000 characters; this model reads at most"),
        (["chat", "你好", "--temperature", "9"], "temperature must be from 0 to 2, not 9.0"),
        (["chat", b"\xff\xfe"], "text_input is not valid UTF-8"),
        (["chat", "你好", "--model", "nope"], "there is no chat model 'nope' here"),
        (["parse", "no.csv"], "no.csv is no file; check its name"),
        (["parse", "  "], "the address is empty; write one first"),
        (["parse", "好" * 10_000], "characters; at most 2000 can be parsed"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_2(
    server: Any, arguments: list[str | bytes], sentence: str
) -> None:
    done = tritalk(*arguments)
    assert done.returncode == 2
    assert done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("tritalk: ")
    assert sentence in line


def test_a_wrong_line_does_not_end_the_conversation(server: Any) -> None:
    done = tritalk("chat", "--seed", "1", stdin="好" * 10_000 + "\n你好\n")
    assert done.returncode == 1
    assert "10,000 characters" in done.stderr.decode()
    assert done.stdout.decode().startswith("你好")


def test_an_address_as_json(server: Any) -> None:
    done = tritalk("parse", ADDRESS, "--json")
    assert done.returncode == 0, done.stderr
    (address,) = lines(done.stdout)
    assert set(address) == {
        "text",
        "entities",
        "division",
        "candidates",
        "contacts",
        "one_line",
    }
    assert address["text"] == ADDRESS
    assert address["contacts"] == []
    for entity in address["entities"]:
        assert set(entity) == {"type", "text", "start", "end", "score"}
        assert ADDRESS[entity["start"] : entity["end"]] == entity["text"]
    division = address["division"]
    assert set(division) == {"province", "city", "district", "town", "code", "confidence"}
    assert [division[k] for k in ("province", "city", "district", "town")] == [
        "浙江省",
        "杭州市",
        "余杭区",
        "五常街道",
    ]
    assert address["candidates"][0]["district"] == "余杭区"


def test_addresses_from_standard_input_are_answered_in_order(server: Any) -> None:
    texts = [f"杭州市余杭区文一西路{n}号" for n in range(1, 300)]
    texts[100] = ""
    texts[200] = "好" * 10_000
    done = tritalk("parse", "-", "--json", stdin="\n".join(texts))
    assert done.returncode == 1  # two lines were wrong
    answers = lines(done.stdout)
    assert [a["text"] for a in answers] == texts
    assert [i for i, a in enumerate(answers) if "error" in a] == [100, 200]
    assert all("entities" in a for i, a in enumerate(answers) if i not in (100, 200))


def test_an_address_is_answered_before_the_next_is_typed(server: Any) -> None:
    with subprocess.Popen(
        [*TRITALK, "parse", "-", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in ("1", "2"):
            process.stdin.write(f"杭州市文一西路{number}号\n".encode())
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["text"].endswith(f"{number}号")
        process.stdin.close()
        assert process.wait(timeout=30) == 0


def test_a_reader_that_has_enough_is_no_error(server: Any) -> None:
    done = subprocess.run(
        f"{sys.executable} -m desktop chat 你好 --json --seed 1 | head -n 1",
        shell=True,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert "token_id" in json.loads(done.stdout)
    assert done.stderr == b""


def test_status_names_what_a_client_needs(server: Any) -> None:
    done = tritalk("server", "status", "--json")
    assert done.returncode == 0
    status = json.loads(done.stdout)
    assert {
        "launcher",
        "reason",
        "state",
        "grpc",
        "http",
        "metrics",
        "headers",
        "models",
    } <= set(status)
    assert status["launcher"] == "embedded"
    assert status["state"] == "ready"
    assert set(status["models"]) == {
        "ibuddha_chitchat",
        "ibuddha_chitchat_bls",
        "ibuddha_chitchat_stream",
        "multitask_model",
        "address_parser",
    }
    assert set(status["models"].values()) == {"READY"}


def test_without_a_display_the_same_job_is_done_in_the_terminal(fresh_home: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment.pop("QT_QPA_PLATFORM", None)
    done = subprocess.run(
        TRITALK, env=environment, capture_output=True, timeout=180, check=False, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("There is no display")
    assert "tokens/s" in done.stdout
    assert "余杭区" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Done.")
    assert tritalk("server", "status").returncode == 1  # it was stopped again


def test_a_display_that_does_not_answer_is_no_crash(fresh_home: Path) -> None:
    from desktop.cli import display

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("WAYLAND_DISPLAY", raising=False)
        patch.delenv("QT_QPA_PLATFORM", raising=False)
        patch.setenv("DISPLAY", ":987")
        assert display.problem() == "The display :987 does not answer."


def test_a_file_given_as_an_address_is_noticed(server: Any, tmp_path: Path) -> None:
    path = tmp_path / "addresses.txt"
    path.write_text("杭州市\n", encoding="utf-8")
    done = tritalk("parse", str(path))
    assert done.returncode == 2
    assert f"tritalk parse - < {path}" in done.stderr.decode()
    table = path.rename(tmp_path / "addresses.csv")
    done = tritalk("parse", str(table))
    assert done.returncode == 2
    assert f"tritalk parse {table} --output" in done.stderr.decode()


def test_a_byte_order_mark_is_no_part_of_the_first_address(server: Any) -> None:
    done = tritalk("parse", "-", "--json", stdin="\ufeff杭州市文一西路1号\r\n")
    (address,) = lines(done.stdout)
    assert address["text"] == "杭州市文一西路1号"
    assert address["entities"][0]["start"] == 0


def test_a_line_in_another_encoding_is_told_with_the_way_out(server: Any) -> None:
    done = tritalk("parse", "-", stdin="杭州市\n".encode("gbk") + "杭州市\n".encode())
    assert done.returncode == 1
    (line,) = done.stderr.decode().splitlines()
    assert "line 1: the line is not UTF-8" in line
    assert "iconv -f gb18030" in line
    assert done.stdout.decode().startswith("杭州市")


def test_several_candidates_are_shown_to_people(server: Any) -> None:
    done = tritalk("parse", "朝阳区建国路93号")
    text = done.stdout.decode()
    assert "several fit:" in text
    assert "北京市" in text
    assert "长春市" in text


def test_version() -> None:
    done = tritalk("--version")
    assert done.stdout.decode().startswith("tritalk 0.")


def test_a_display_without_qts_libraries_is_told_and_the_terminal_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from desktop.cli import demo, display, doctor, main

    ran = []
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.setattr(display, "problem", lambda: "")
    monkeypatch.setattr(doctor, "qt_problem", lambda: "the window needs libxcb-cursor.so.0")
    monkeypatch.setattr(demo, "run", lambda: ran.append(1) or 0)
    assert main.main([]) == 0
    assert ran == [1]
    assert "The window cannot open: the window needs libxcb-cursor" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("redirection", "code", "sentence"),
    [
        ("<&-", 0, ""),
        (">&-", 0, ""),
        ("> /dev/full", 1, "the output cannot be written: No space left on device"),
    ],
)
def test_closed_and_full_standard_streams(
    server: Any, redirection: str, code: int, sentence: str
) -> None:
    done = subprocess.run(
        f"{sys.executable} -m desktop parse 杭州市文一西路1号 {redirection}",
        shell=True,
        capture_output=True,
        timeout=60,
        check=False,
        text=True,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert sentence in done.stderr


def test_an_address_cannot_command_the_terminal(server: Any) -> None:
    done = tritalk("parse", "-", stdin="杭州市\x1b[31m余杭区\x1b]0;pwned\x07\u202e\n")
    assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout.decode())
