"""Chat templates: Jinja that came with somebody's model."""

from __future__ import annotations

import random
from collections.abc import Iterable

from server_bundle.chitchat.chat_template import ChatTemplate, TemplateRefuses
from server_bundle.chitchat.folder import CheckpointError
from tests.fuzz.harness import allowed, text
from tests.support.chat_models import CHATML, INST

MAX_LEN = 2048
_MESSAGES = [{"role": "user", "content": "你好"}, {"role": "assistant", "content": "嗯"}]
_PIECES = (
    "{% break %}", "{% for m in messages %}", "{% endfor %}", "{% if m.role == 'user' %}",
    "{% else %}", "{% endif %}", "{% generation %}", "{% endgeneration %}", "{{ m.content }}",
    "{{ messages | tojson }}", "{% set ns = namespace(a=1) %}", "{% set ns.a = messages %}",
    "{% macro f(a, b=f) %}", "{% endmacro %}", "{{ f() }}", "{{ loop.index0 }}", "{%- continue -%}",
    "{{ strftime_now('%Y\\0') }}", "{{ raise_exception(messages) }}", "{{ messages[9] }}",
    "{{ ''.__class__.__mro__ }}", "{{ self._TemplateReference__context }}", "{% import x %}",
    "{% include 'x' %}", "{% extends 'x' %}", "{{ '%c' % 9999999999 }}", "{# ", "{% raw %}",
    "{% block a %}", "{% endblock %}", "{{ 1 / 0 }}", "{{ bos_token * 3 }}", "{{ caller() }}",
)  # fmt: skip


def seeds() -> Iterable[bytes]:
    yield CHATML.encode()
    yield INST.encode()
    yield b"{% generation %}{{ messages | tojson(indent=2) }}{% endgeneration %}"
    yield b"{% for m in messages %}{% if m.role == 'x' %}{% break %}{% endif %}{% endfor %}"


def mutate(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    cut = at + chance.choice((0, 0, 1, 8, 20))
    return data[:at] + chance.choice(_PIECES).encode() + data[cut:]


def one(data: bytes) -> None:
    with allowed(CheckpointError, TemplateRefuses):
        template = ChatTemplate(text(data), {"bos_token": "<s>", "eos_token": "</s>"})
        assert isinstance(template.render(_MESSAGES), str)
        assert isinstance(template.render(_MESSAGES[:1], False), str)
