"""What people write around an address: names, phone numbers, wishes. None of it is an entity."""

from __future__ import annotations

from random import Random

from server_bundle.training.address import lexicon as lex
from server_bundle.training.address import names
from server_bundle.training.address.names import chance
from server_bundle.training.address.writer import Writer


def before(writer: Writer, rng: Random) -> None:
    roll = rng.random()
    if roll < 0.35:
        writer.add(rng.choice(lex.NOTES_BEFORE))
    if roll > 0.25:
        writer.add(names.person(rng) + rng.choice((" ", "，", ",", " ", "")))
        if chance(rng, 0.7):
            writer.add(names.phone(rng) + rng.choice((" ", "，", ",", " ", "")))
    if chance(rng, 0.06):
        writer.add(f"{rng.randint(100000, 699999)}" + rng.choice((" ", "")))


def after(writer: Writer, rng: Random) -> None:
    joint = rng.choice(("", "", " ", "，", ",", " "))
    roll = rng.random()
    if roll < 0.55:
        writer.add(joint + rng.choice(lex.NOTES_AFTER))
    elif roll < 0.8:
        writer.add((joint or " ") + names.person(rng))
        if chance(rng, 0.7):
            writer.add(rng.choice(("", " ")) + names.phone(rng))
    elif roll < 0.92:
        writer.add(joint + names.phone(rng))
    else:
        writer.add(rng.choice((" ", "，邮编", " 邮编：")) + str(rng.randint(100000, 699999)))
