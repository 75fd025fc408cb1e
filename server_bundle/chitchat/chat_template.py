"""Renders a model's own chat template, the Jinja text that transformers' models bring along.

The environment is the one of transformers' ``apply_chat_template`` (sandboxed, without access to
anything but the messages), so that templates render alike; it is made anew here because importing
transformers would bring torch into every process that only makes prompts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from server_bundle.chitchat.folder import CheckpointError

_LONGEST = 200_000  # characters of a template


class TemplateRefuses(Exception):
    """The template itself says that it cannot make a prompt of these messages."""


class _Generation(jinja2.ext.Extension):
    """``{% generation %}`` marks what the model says, for training; here it only passes through."""

    tags = {"generation"}  # noqa: RUF012 - as Jinja wants it

    def parse(self, parser: jinja2.parser.Parser) -> list[jinja2.nodes.Node]:
        next(parser.stream)
        return list(parser.parse_statements(("name:endgeneration",), drop_needle=True))


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _refuse(message: str) -> None:
    raise TemplateRefuses(message)


class ChatTemplate:
    """One template.

    Args:
        source: the Jinja text.
        specials: what templates call special tokens by, such as ``bos_token``.

    Raises:
        CheckpointError: it is no Jinja.
    """

    def __init__(self, source: str, specials: Mapping[str, str]) -> None:
        if len(source) > _LONGEST:
            raise CheckpointError(f"the chat template has more than {_LONGEST:,} characters")
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_Generation, "jinja2.ext.loopcontrols"],
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
        self._specials = dict(specials)
        try:
            self._template = environment.from_string(source)
        except Exception as error:  # Python's compiler refuses what Jinja's own lets pass
            raise CheckpointError(f"the chat template is no Jinja: {error}") from None

    def render(self, messages: Sequence[Mapping[str, str]], open_reply: bool = True) -> str:
        """The prompt's text; ``open_reply``: up to where the reply begins.

        Raises:
            TemplateRefuses: the template does not take such messages.
            CheckpointError: it fails.
        """
        try:
            # Models that can think aloud first answer at once where their template lets them.
            text = self._template.render(
                messages=list(messages),
                add_generation_prompt=open_reply,
                tools=None,
                documents=None,
                enable_thinking=False,
                **self._specials,
            )
            text.encode()
            return text
        except TemplateRefuses:
            raise
        except Exception as error:  # whatever a foreign template does
            raise CheckpointError(f"the chat template fails: {error}") from None
