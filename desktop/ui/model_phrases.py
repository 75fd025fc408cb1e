"""Sentences of importing models, as templates for :mod:`desktop.ui.phrases`."""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP

SOURCES = (
    # What an import is doing.
    QT_TRANSLATE_NOOP("phrases", "asking the hub for {0}"),
    QT_TRANSLATE_NOOP("phrases", "downloading {0}"),
    QT_TRANSLATE_NOOP("phrases", "checking {0}"),
    QT_TRANSLATE_NOOP("phrases", "looking at the files"),
    QT_TRANSLATE_NOOP("phrases", "reading {0}"),
    QT_TRANSLATE_NOOP("phrases", "reading the tokenizer"),
    QT_TRANSLATE_NOOP("phrases", "reading the weights"),
    QT_TRANSLATE_NOOP("phrases", "writing the weights"),
    QT_TRANSLATE_NOOP("phrases", "comparing with transformers"),
    QT_TRANSLATE_NOOP("phrases", "comparing the prompts with transformers"),
    QT_TRANSLATE_NOOP("phrases", "comparing the replies with transformers"),
    QT_TRANSLATE_NOOP("phrases", "putting it in place"),
    QT_TRANSLATE_NOOP("phrases", "cancelling"),
    # Why it failed.
    QT_TRANSLATE_NOOP(
        "phrases", "there is no folder {0}, and it is no name on the hub, such as {1}"
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "a model's name is made of 1 to 64 small letters, digits, dots and hyphens, not {0}",
    ),
    QT_TRANSLATE_NOOP("phrases", "{0} is taken by the server itself; give it another name"),
    QT_TRANSLATE_NOOP(
        "phrases",
        "there is a model {0} already; remove it first, or give this one another name",
    ),
    QT_TRANSLATE_NOOP("phrases", "{0} is missing from {1}"),
    QT_TRANSLATE_NOOP("phrases", "{0} has neither model.safetensors nor pytorch_model.bin"),
    QT_TRANSLATE_NOOP("phrases", "the file {0} is damaged or cut off: {1}"),
    QT_TRANSLATE_NOOP(
        "phrases",
        "the file {0} wants to run code when it is read; only plain tensors are accepted, so it "
        "was not read",
    ),
    QT_TRANSLATE_NOOP(
        "phrases",
        "the model has no chat template, so it was not made for chats (and it has no vocab.txt of "
        "CDial-GPT or GPT2-chitchat either)",
    ),
    QT_TRANSLATE_NOOP("phrases", "this model needs program code of its own, which is not run here"),
    QT_TRANSLATE_NOOP("phrases", "config.json: {0} is {1}; from 1 to {2} is possible"),
    QT_TRANSLATE_NOOP("phrases", "the disk of {0} is full; make room and try again"),
    QT_TRANSLATE_NOOP(
        "phrases",
        "the model needs {0} of disk space while it is imported, but {1} are free at {2}",
    ),
    QT_TRANSLATE_NOOP("phrases", "there is no model {0} at {1}, or it is private"),
    QT_TRANSLATE_NOOP("phrases", "the file {0} arrived damaged (its checksum is wrong); try again"),
    QT_TRANSLATE_NOOP(
        "phrases", "the download from {0} broke off ({1}); try again, what has arrived is kept"
    ),
    # What is wrong in a prompt.toml that was edited.
    QT_TRANSLATE_NOOP("phrases", "{0}: {1} must be a whole number from {2} to {3}, not {4}"),
    QT_TRANSLATE_NOOP("phrases", "{0}: {1} must be one of {2}, not {3}"),
    QT_TRANSLATE_NOOP("phrases", "{0}: {1} is no entry; known are {2}"),
    QT_TRANSLATE_NOOP("phrases", "{0}: two special ids of [vocabulary] are the same"),
    QT_TRANSLATE_NOOP("phrases", "{0}, [sampling]: {1} must be from {2} to {3}, not {4}"),
    # What the command line says afterwards.
    QT_TRANSLATE_NOOP("phrases", "there is no imported chat model {0}"),
    QT_TRANSLATE_NOOP("phrases", "{0} is being downloaded already"),
)
